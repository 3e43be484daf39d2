/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a trace reports: at each INTERVAL, until COUNT of them or the end of -d. */
#ifndef COMMAND_SCHEDULE_H
#define COMMAND_SCHEDULE_H

#include "command/options.h"
#include "system/loop.h"

/* {0} = nothing is due. */
struct schedule {
	struct loop *loop; /* not owned */
	uint64_t count; /* COUNT; 0 = no limit */
	uint64_t ticks; /* of INTERVAL: no signal, mark or trigger counts */
	struct watch on_tick, on_end;
	void (*report)(void *context);
	void *context;
};

/*
 * Call `report` at each INTERVAL; stop the loop in place of the last of COUNT, and at the end of -d:
 * the last report follows. -d begins at `since_ns` (CLOCK_MONOTONIC; 0 = now). Returns 0 or a negative
 * errno. Close with schedule_close.
 */
int schedule_start(struct schedule *schedule, const struct options *options, uint64_t since_ns,
		   struct loop *loop);
void schedule_close(struct schedule *schedule);

#endif
