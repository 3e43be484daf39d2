/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server of pages by HTTP (libmicrohttpd) in the event loop of the program: no thread of its own. Clients are hostile: connections,
 * sizes and times are limited, a page that is asked for often is made now and then, and a connection has one request.
 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "base/buffer.h"
#include "base/error.h"
#include "serve/page.h"
#include "serve/request.h"
#include "system/loop.h"

struct http;

struct http_options {
	int fd; /* of address_listen; the server's from now on */
	struct request_policy policy;
	/*
	 * Append a page of the kind PAGE_REPORT to `out`; `before` is NULL, or what `begin` has returned: then only what has changed since.
	 * Returns 0, or a negative errno with a sentence in `out`.
	 */
	int (*make)(void *context, const struct page *page, void *before, struct buffer *out);
	/* The state now, for `make`; NULL = it cannot be had. Free with `drop`, which accepts NULL. */
	void *(*begin)(void *context);
	void (*drop)(void *before);
	void *context;
};

/*
 * Serve from now on, as often as the loop runs. Makes all descriptors that are needed but those of connections. Returns 0 or a
 * negative errno with `error` filled. Free with http_close, before the loop is closed.
 */
int http_open(const struct http_options *options, struct loop *loop, struct http **ret_http,
	      struct error *error);
/* Close all connections. Accepts NULL. */
void http_close(struct http *http);

/* Append what clients have asked for, as metrics. */
void http_append_metrics(const struct http *http, struct buffer *out);

#endif
