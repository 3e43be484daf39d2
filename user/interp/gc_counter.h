/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an interpreter's own counter of major garbage collections in its process's memory: full
 * marks of Ruby 2.7 to 3.4, collections of the oldest generation of CPython 3.8 to 3.13. Unknown
 * for Ruby 2.6 and 4.0. CPython 3.14 collects in increments and counts only collections that the
 * program requests.
 */
#ifndef INTERP_GC_COUNTER_H
#define INTERP_GC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"

struct interpreter;

/* {0} = none. Addresses in the process. */
struct gc_counter {
	/* Address of the 64-bit number of collections begun (CPython: ended); 0 = none. */
	uint64_t count;
	/*
	 * Address of a 32-bit word whose bits are set while the collector is running; 0 =
	 * collections count when they end.
	 */
	uint64_t mode;
};

#define GC_MODE_MASK 3u

/* Is the counter's location known for this version? */
bool gc_counter_is_known(const struct interpreter *interpreter);

/*
 * Find the counter. False if there is no known one, or if the structures around it are
 * inconsistent, as while they change. Reads present pages only.
 */
bool gc_counter_find(const struct interpreter *interpreter, const struct target_memory *memory,
		     struct gc_counter *ret_counter);

/* A counter that is searched repeatedly until found. Start with {0}. */
struct gc_search {
	struct gc_counter counter;
	/* No search before `due_ns`; each that fails doubles the wait for the next, up to a second. */
	uint64_t due_ns, wait_ns;
};

/* Is the counter found, at `now_ns` (CLOCK_MONOTONIC) or before? */
bool gc_counter_search(struct gc_search *search, const struct interpreter *interpreter,
		       const struct target_memory *memory, uint64_t now_ns);

/* Read the counter. False if its page is absent. */
bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running);

#endif
