/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTTP server (libmicrohttpd) in the event loop of the program, without a thread. Clients are
 * untrusted: connections, sizes and times are limited, popular pages are cached, and a connection
 * carries one request.
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
	int fd; /* from address_listen; the server takes ownership */
	struct request_policy policy;
	/*
	 * Append a page of kind PAGE_REPORT to `out`; `before` is NULL, or a result of `begin`:
	 * then only what has changed since. Returns 0, or a negative errno with a sentence in
	 * `out`.
	 */
	int (*make)(void *context, const struct page *page, void *before, struct buffer *out);
	/*
	 * Capture the present state, for `make`; NULL = failed. Free with `drop`, which accepts
	 * NULL.
	 */
	void *(*begin)(void *context);
	void (*drop)(void *before);
	void *context;
};

/*
 * Start serving, in `loop`. Opens all descriptors except those of connections. Returns 0 or a
 * negative errno with `error` filled. Free with http_close, before the loop is closed.
 */
int http_open(const struct http_options *options, struct loop *loop, struct http **ret_http,
	      struct error *error);
/* Close all connections. Accepts NULL. */
void http_close(struct http *http);

/* Append metrics of the requests. */
void http_append_metrics(const struct http *http, struct buffer *out);

#endif
