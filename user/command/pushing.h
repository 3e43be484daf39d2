/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pushes reports periodically (serve/push.h): decides when, logs failures, and counts. */
#ifndef COMMAND_PUSHING_H
#define COMMAND_PUSHING_H

#include <stdbool.h>

#include "command/options.h"
#include "serve/push.h"
#include "system/loop.h"

struct pushing {
	struct push push;
	/* Not owned, like the log; NULL = nothing is pushed. */
	const struct options *options;
	const struct log *log;
	struct push_url url;
	/* Append the bytes to push. Returns 0 or a negative errno. */
	int (*make)(void *context, struct buffer *out);
	void *context;
	struct watch on_time, on_answer;
	bool waiting; /* an answer is outstanding */
	struct push_answer last; /* answer to the previous push; status 0 and code 0 = none yet */
	uint64_t accepted, failed, skipped;
};

/*
 * Do what needs privileges: look up the host of --otlp and start the pushing process. Returns 0 or
 * a negative errno with `error` filled. Free with pushing_close.
 */
int pushing_open(struct pushing *pushing, const struct options *options, const struct log *log,
		 struct error *error);

/* Start pushing at each interval, in `loop`. Returns 0 or a negative errno with `error` filled. */
int pushing_start(struct pushing *pushing, struct loop *loop,
		  int (*make)(void *context, struct buffer *out), void *context,
		  struct error *error);

/* Append metrics of the pushes; nothing without --otlp. */
void pushing_append_metrics(const struct pushing *pushing, struct buffer *out);

/*
 * Close; an outstanding push may use the rest of its time. Accepts one that was not opened, if its
 * socket is -1.
 */
void pushing_close(struct pushing *pushing);

#endif
