/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a server does with a request. Pure: the request is made of texts that anybody may have written. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/page.h"
#include "serve/token.h"

#define REQUEST_SECONDS_MAX 300

/* NULL is what the request does not have. */
struct request {
	const char *method, *path;
	const char *host, *authorization; /* headers */
	const char *seconds; /* of the query */
	bool has_body;
};

/* Who may ask. */
struct request_policy {
	/*
	 * Only names of this machine itself are accepted as its host: a page of another site whose name leads here (DNS rebinding) is not.
	 */
	bool checks_host;
	struct token token; /* "" = anybody */
};

struct request_answer {
	unsigned int status; /* of HTTP; 200 = `page`, others have a sentence */
	const char *sentence;
	const struct page *page;
	uint64_t seconds; /* 0 = since tracing began */
};

struct request_answer request_decide(const struct request *request,
				     const struct request_policy *policy);

/* Is the value of a header Host this machine for itself, with a port or without? */
bool request_is_local(const char *host);

#endif
