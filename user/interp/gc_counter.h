/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interpreter's own counter of major garbage collections, read in its process's memory. */
#ifndef INTERP_GC_COUNTER_H
#define INTERP_GC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"

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

/* Read the counter. False if its page is absent. */
bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running);

#endif
