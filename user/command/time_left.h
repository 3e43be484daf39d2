/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With -d on a terminal: for how long has been traced, each second, until the report. */
#ifndef COMMAND_TIME_LEFT_H
#define COMMAND_TIME_LEFT_H

#include "command/options.h"
#include "system/loop.h"

/* {0} = nothing is shown. */
struct time_left {
	struct watch watch;
	uint64_t begin_ns, duration_ns;
};

/* Time begins. Without -d, and for a command, which may write on the terminal itself, nothing is shown. */
void time_left_start(struct time_left *left, const struct options *options, struct loop *loop);

/* What follows has the line. Does nothing the second time. */
void time_left_stop(struct time_left *left);

#endif
