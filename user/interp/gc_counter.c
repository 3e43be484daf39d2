/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gc_counter.h. */
#include "interp/gc_counter.h"

bool gc_counter_read(const struct gc_counter *counter, const struct target_memory *memory,
		     uint64_t *ret_count, bool *ret_is_running)
{
	uint32_t mode = 0;

	if (!target_read_present(memory, counter->count, ret_count, sizeof(*ret_count)) ||
	    (counter->mode && !target_read_present(memory, counter->mode, &mode, sizeof(mode))))
		return false;
	*ret_is_running = mode & GC_MODE_MASK;
	return true;
}
