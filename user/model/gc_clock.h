/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses the garbage collector of a process as a clock: records when its last major collections ran,
 * and counts how many a block has survived. The collector is observed periodically from outside, so
 * a collection happened between two looks; the earlier one counts, and a block never counts as
 * surviving a collection that had begun before its birth.
 */
#ifndef MODEL_GC_CLOCK_H
#define MODEL_GC_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Collections whose times are kept. A block that has survived more counts as having survived at
 * least this many.
 */
#define GC_CLOCK_MAX 64

/* {0} = no look yet. Times are CLOCK_MONOTONIC. */
struct gc_clock {
	bool is_known; /* there was a look */
	uint64_t count; /* major collections begun until the last look */
	uint64_t look_ns; /* the last look */
	uint64_t ended; /* of those begun since the first look, the number that has ended */
	uint64_t begun; /* begun since the first look */
	/* Times before which the collection had not begun, by its number modulo GC_CLOCK_MAX. */
	uint64_t times[GC_CLOCK_MAX];
};

/*
 * A look: `count` major collections have begun by `now_ns`. `is_running`: a collection is in
 * progress, the last major one or a minor one. A lower count than before belongs to another
 * collector.
 */
void gc_clock_look(struct gc_clock *clock, uint64_t now_ns, uint64_t count, bool is_running);

/* The number of whole collections that a block born at `born_ns` has survived. */
uint64_t gc_clock_outlived(const struct gc_clock *clock, uint64_t born_ns);

/*
 * The age at `now_ns` of a block that has survived at least `count` collections, 1 to GC_CLOCK_MAX;
 * UINT64_MAX = none has.
 */
uint64_t gc_clock_age(const struct gc_clock *clock, uint64_t now_ns, uint64_t count);

#endif
