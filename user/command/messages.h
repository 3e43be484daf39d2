/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages while a screen is shown, which they would tear: kept until the terminal is given back, and the last one at hand. */
#ifndef COMMAND_MESSAGES_H
#define COMMAND_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/log.h"

/* It must stay where it is. */
struct messages {
	struct log log; /* what is written to it goes here */
	const struct log *to; /* where messages go in the end */
	bool is_held; /* a screen is shown */
	bool is_terminal; /* they would go to the screen's terminal */
	struct buffer kept; /* until then */
	struct buffer last; /* a line without its end; not safe */
	uint64_t last_ns; /* CLOCK_MONOTONIC: when it came; 0 = there is none */
};

void messages_open(struct messages *messages, const struct log *to);

/* From now on they are kept, if they would go to a terminal. */
void messages_hold(struct messages *messages);
/* Write what was kept. */
void messages_release(struct messages *messages);

void messages_close(struct messages *messages);

#endif
