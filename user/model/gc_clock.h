/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The garbage collector of a process as a clock: when its last major collections were, and how many of them a block has
 * outlived. It is looked at from outside now and then, so their times are between two looks: the earlier one counts, and
 * no block is taken to have outlived a collection that had begun before it was born.
 */
#ifndef MODEL_GC_CLOCK_H
#define MODEL_GC_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Collections whose times are kept. Who outlives more of them has outlived at least as many. */
#define GC_CLOCK_MAX 64

/* {0} is a clock that was never looked at. Times are CLOCK_MONOTONIC. */
struct gc_clock {
	bool is_known; /* it was looked at */
	uint64_t count; /* of major collections that had begun at the last look */
	uint64_t look_ns; /* the last look */
	uint64_t ended; /* of those that have begun since the first look, how many have ended */
	uint64_t begun; /* since the first look */
	/* Before which no collection had begun, by its number modulo GC_CLOCK_MAX. */
	uint64_t times[GC_CLOCK_MAX];
};

/*
 * `count` major collections have begun at `now_ns`. If `is_running`, a collection goes on: the last major one, or a minor one.
 * A count that is lower than the last one is another collector's.
 */
void gc_clock_look(struct gc_clock *clock, uint64_t now_ns, uint64_t count, bool is_running);

/* How many collections, from their beginning to their end, has outlived what was born at `born_ns`? */
uint64_t gc_clock_outlived(const struct gc_clock *clock, uint64_t born_ns);

/* The age as of `now_ns` of what has outlived at least `count` collections, 1 to GC_CLOCK_MAX; UINT64_MAX = nothing has. */
uint64_t gc_clock_age(const struct gc_clock *clock, uint64_t now_ns, uint64_t count);

#endif
