/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many major garbage collections an interpreter has made, by its own counter in the memory of its process: full marks of
 * Ruby 3.1, 3.3 and 3.4, collections of the oldest generation of CPython 3.9 to 3.13.
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

/* Read it. False if it is not present. */
bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running);

#endif
