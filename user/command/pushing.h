/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pushing reports at times (serve/push.h): when, messages about failures, and how many there were. */
#ifndef COMMAND_PUSHING_H
#define COMMAND_PUSHING_H

#include <stdbool.h>

#include "command/options.h"
#include "serve/push.h"
#include "system/loop.h"

struct pushing {
	struct push push;
	/* Not owned, and neither is the log; NULL = nothing is pushed. */
	const struct options *options;
	const struct log *log;
	struct push_url url;
	/* Append what is pushed. Returns 0 or a negative errno. */
	int (*make)(void *context, struct buffer *out);
	void *context;
	struct watch on_time, on_answer;
	bool waiting; /* for the answer to a push */
	struct push_answer last; /* to the push before; status 0 and code 0 = none yet */
	uint64_t accepted, failed, skipped;
};

/*
 * Look up the host of --otlp and start the process that pushes: what needs privileges. Returns 0 or a negative errno with `error` filled.
 * Free with pushing_close.
 */
int pushing_open(struct pushing *pushing, const struct options *options, const struct log *log,
		 struct error *error);

/* Push from now on, whenever the loop runs and an interval is over. Returns 0 or a negative errno with `error` filled. */
int pushing_start(struct pushing *pushing, struct loop *loop,
		  int (*make)(void *context, struct buffer *out), void *context,
		  struct error *error);

/* Append what was pushed, as metrics; nothing where nothing is. */
void pushing_append_metrics(const struct pushing *pushing, struct buffer *out);

/* A push that is on its way has the rest of its time. Accepts one that was not opened but for its socket, -1. */
void pushing_close(struct pushing *pushing);

#endif
