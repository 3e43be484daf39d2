/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that pushes bytes to one address by HTTP, for a program that may open no connection any more. It has no privilege,
 * and may make no call but those that this takes. Who takes the program over can send by it to this address, and no more.
 */
#ifndef SERVE_PUSH_H
#define SERVE_PUSH_H

#include "base/buffer.h"
#include "base/error.h"
#include "serve/push_url.h"

struct push {
	int socket; /* readable when a push is over; -1 = there is no such process */
};

/* What has become of one. */
struct push_answer {
	int code; /* 0, or the negative errno of the connection: -ETIMEDOUT, -ECONNREFUSED, -EPROTO = the answer is no HTTP */
	unsigned int status; /* of HTTP, where `code` is 0 */
};

/*
 * Start the process; to be called while the caller may give up root. It ends with the caller. A push takes at most `limit_ms`. Returns 0
 * or a negative errno with `error` filled. Free with push_close.
 */
int push_start(struct push *push, const struct push_url *url, int limit_ms, struct error *error);

/* Push `body`, a protobuf message: does not wait. Not while another one is on its way. Returns 0 or a negative errno. */
int push_send(struct push *push, const struct buffer *body);

/* Is it over? Returns 1 with `answer` filled, 0 if it is not, or a negative errno if the process is gone. */
int push_take(struct push *push, struct push_answer *answer);

/* Accepts a push that is closed. */
void push_close(struct push *push);

#endif
