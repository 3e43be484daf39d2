/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With -d on a terminal: shows each second how long tracing has lasted, until the report. */
#ifndef COMMAND_TIME_LEFT_H
#define COMMAND_TIME_LEFT_H

#include "command/options.h"
#include "system/loop.h"

/* {0} = nothing is shown. */
struct time_left {
	struct watch watch;
	uint64_t begin_ns, duration_ns;
};

/*
 * Start. Shows nothing without -d, or for a started command, which may write to the terminal
 * itself.
 */
void time_left_start(struct time_left *left, const struct options *options, struct loop *loop);

/* Stop, and leave the line to other output. A second call does nothing. */
void time_left_stop(struct time_left *left);

#endif
