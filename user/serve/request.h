/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides about a request. Pure; the texts of a request are untrusted. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/page.h"
#include "serve/token.h"

#define REQUEST_SECONDS_MAX 300

/* NULL = absent. */
struct request {
	const char *method, *path;
	const char *host, *authorization; /* headers */
	const char *seconds; /* of the query string */
	bool has_body;
};

/* Access rules. */
struct request_policy {
	/*
	 * Accept only names of this machine itself as Host: rejects a page of another site whose
	 * name resolves to this address (DNS rebinding).
	 */
	bool checks_host;
	struct token token; /* "" = no token needed */
};

struct request_answer {
	unsigned int status; /* HTTP status; 200 = `page`, others have a sentence */
	const char *sentence;
	const struct page *page;
	uint64_t seconds; /* 0 = since tracing began */
};

struct request_answer request_decide(const struct request *request,
				     const struct request_policy *policy);

/* Does a Host header name this machine itself, with or without a port? */
bool request_is_local(const char *host);

#endif
