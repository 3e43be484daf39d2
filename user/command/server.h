/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the pages of the HTTP server (serve/) from a session; each is a report as the options ask.
 * Does not decide when.
 */
#ifndef COMMAND_SERVER_H
#define COMMAND_SERVER_H

#include "command/options.h"
#include "command/pushing.h"
#include "command/reporter.h"
#include "serve/address.h"
#include "serve/http.h"
#include "session/session.h"

struct server {
	const struct options *options; /* not owned, like the next three */
	const struct log *log;
	struct reporter *reporter;
	struct session *session;
	struct address address;
	int fd; /* listening socket until the server starts; -1 = none */
	struct request_policy policy;
	struct http *http;
	struct pushing pushing; /* with --otlp */
	struct server_page *pages; /* PAGE_MAX pages, and the pushed one; owned */
};

/*
 * Do what needs privileges: listen at the address of --listen, with the token of --token-file.
 * Answers and pushes nothing yet. Returns 0 or a negative errno with `error` filled. Free with
 * server_close.
 */
int server_open(struct server *server, const struct options *options, const struct log *log,
		struct error *error);

/* Start answering requests, in `loop`. Returns 0 or a negative errno with `error` filled. */
int server_start(struct server *server, struct session *session, struct reporter *reporter,
		 struct loop *loop, struct error *error);

/*
 * Close all connections, while the arguments of server_start still exist. A second call does
 * nothing.
 */
void server_close(struct server *server);

#endif
