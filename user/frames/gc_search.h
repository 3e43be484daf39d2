/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches for an interpreter's own counter of major collections: full marks of Ruby 2.7 to 3.4,
 * collections of the oldest generation of CPython 3.8 to 3.13. Unknown for Ruby 2.6 and 4.0.
 * CPython 3.14 collects in increments and counts only collections that the program requests.
 */
#ifndef FRAMES_GC_SEARCH_H
#define FRAMES_GC_SEARCH_H

#include "interp/frames_ops.h"
#include "interp/gc_counter.h"

/* Is the counter's location known for this version? */
bool gc_search_is_known(const struct interpreter *interpreter);

/*
 * Find the counter. False if there is no known one, or if the structures around it are
 * inconsistent, as while they change. Reads present pages only.
 */
bool gc_search_find(const struct interpreter *interpreter, const struct target_memory *memory,
		    struct gc_counter *ret_counter);

/* A counter that is searched repeatedly until found. Start with {0}. */
struct gc_search {
	struct gc_counter counter;
	/* No search before `due_ns`; each that fails doubles the wait for the next, up to a second. */
	uint64_t due_ns, wait_ns;
};

/* Is the counter found, at `now_ns` (CLOCK_MONOTONIC) or before? */
bool gc_search_run(struct gc_search *search, const struct interpreter *interpreter,
		   const struct target_memory *memory, uint64_t now_ns);

#endif
