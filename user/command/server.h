/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a session to the pages of a server (serve/), each of which is a report as the options ask; not when. */
#ifndef COMMAND_SERVER_H
#define COMMAND_SERVER_H

#include "command/options.h"
#include "command/pushing.h"
#include "command/reporter.h"
#include "serve/address.h"
#include "serve/http.h"
#include "session/session.h"

struct server {
	const struct options *options; /* not owned, and neither are the next three */
	const struct log *log;
	struct reporter *reporter;
	struct session *session;
	struct address address;
	int fd; /* that it listens at, until the server has begun; -1 = none */
	struct request_policy policy;
	struct http *http;
	struct pushing pushing; /* with --otlp */
	struct server_page *pages; /* PAGE_MAX, and what is pushed; owned */
};

/*
 * Begin to listen at the address of --listen, with the token of --token-file: what needs privileges. Nobody is answered, and nothing pushed, yet. Returns 0 or
 * a negative errno with `error` filled. Free with server_close.
 */
int server_open(struct server *server, const struct options *options, const struct log *log,
		struct error *error);

/* Answer from now on, whenever the loop runs. Returns 0 or a negative errno with `error` filled. */
int server_start(struct server *server, struct session *session, struct reporter *reporter,
		 struct loop *loop, struct error *error);

/* Close all connections. What it was started with must still be there. Does nothing the second time. */
void server_close(struct server *server);

#endif
