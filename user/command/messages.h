/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds back messages while a screen is shown, which they would corrupt, until the terminal is
 * restored. Keeps the last one for display.
 */
#ifndef COMMAND_MESSAGES_H
#define COMMAND_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/log.h"

/* Must not be moved: `log` points into it. */
struct messages {
	struct log log; /* a log that writes here */
	const struct log *to; /* the real log */
	bool is_held; /* a screen is shown */
	bool is_terminal; /* the real log writes to the screen's terminal */
	struct buffer kept; /* messages held back */
	struct buffer last; /* the last message, without newline; unescaped */
	uint64_t last_ns; /* CLOCK_MONOTONIC: its time; 0 = none */
};

void messages_open(struct messages *messages, const struct log *to);

/* Hold messages back from now on, if they would go to a terminal. */
void messages_hold(struct messages *messages);
/* Write the messages that were held back. */
void messages_release(struct messages *messages);

void messages_close(struct messages *messages);

#endif
