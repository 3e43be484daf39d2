/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper process that pushes bytes to one address by HTTP, for a program that may no longer open
 * connections. It has no privilege, and may make only the system calls that this takes. An attacker
 * who controls the program can use it to send to this address, and no more.
 */
#ifndef SERVE_PUSH_H
#define SERVE_PUSH_H

#include "base/buffer.h"
#include "base/error.h"
#include "serve/push_url.h"

struct push {
	int socket; /* readable when a push is over; -1 = no helper */
};

/* The result of a push. */
struct push_answer {
	/* 0, or a negative errno: -ETIMEDOUT, -ECONNREFUSED, -EPROTO = not an HTTP answer */
	int code;
	unsigned int status; /* HTTP status, if `code` is 0 */
};

/*
 * Start the helper, while the caller can still drop root. It ends with the caller. A push takes at
 * most `limit_ms`. Returns 0 or a negative errno with `error` filled. Free with push_close.
 */
int push_start(struct push *push, const struct push_url *url, int limit_ms, struct error *error);

/*
 * Start pushing `body`, a protobuf message, without waiting; not while another push is outstanding.
 * Returns 0 or a negative errno.
 */
int push_send(struct push *push, const struct buffer *body);

/*
 * Is the push over? Returns 1 with `answer` filled, 0 if not, or a negative errno if the helper is
 * gone.
 */
int push_take(struct push *push, struct push_answer *answer);

/* Accepts one that is closed. */
void push_close(struct push *push);

#endif
