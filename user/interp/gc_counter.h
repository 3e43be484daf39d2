/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many major garbage collections an interpreter has made, by its own counter in the memory of its process: full marks of
 * Ruby 2.7 to 3.4, collections of the oldest generation of CPython 3.8 to 3.13. Of Ruby 2.6 and 4.0 the
 * place is not known. CPython 3.14 collects in parts and counts only the collections that the program asks for.
 */
#ifndef INTERP_GC_COUNTER_H
#define INTERP_GC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"

struct interpreter;

/* {0} is none. Addresses of the process. */
struct gc_counter {
	/* A 64-bit number of collections that have begun, of CPython's that have ended; 0 = none. */
	uint64_t count;
	/* The collector is at work while bits of this 32-bit word are set; 0 = it has done its work when it counts. */
	uint64_t mode;
};

#define GC_MODE_MASK 3u

/* Is it known where an interpreter of this version has the counter? */
bool gc_counter_is_known(const struct interpreter *interpreter);

/*
 * Find the counter. False if there is none that is known, or if the
 * structures around it make no sense, as while they change. Reads what is present only.
 */
bool gc_counter_find(const struct interpreter *interpreter, const struct target_memory *memory,
		     struct gc_counter *ret_counter);

/* A counter that is searched again until it is found. Start with {0}. */
struct gc_search {
	struct gc_counter counter;
	/* No search before `due_ns`; each that fails doubles the wait for the next, up to a second. */
	uint64_t due_ns, wait_ns;
};

/* Is the counter found, at `now_ns` (CLOCK_MONOTONIC) or before? */
bool gc_counter_search(struct gc_search *search, const struct interpreter *interpreter,
		       const struct target_memory *memory, uint64_t now_ns);

/* Read it. False if it is not present. */
bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running);

#endif
