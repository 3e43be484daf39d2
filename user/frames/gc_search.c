/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gc_search.h. */
#include "frames/gc_search.h"

#include "frames/frames_table.h"

bool gc_search_is_known(const struct interpreter *interpreter)
{
	const struct frames_ops *ops = frames_table_get(interpreter->kind);

	return interpreter->globals && ops->has_gc_counter && ops->has_gc_counter(interpreter);
}

bool gc_search_find(const struct interpreter *interpreter, const struct target_memory *memory,
		    struct gc_counter *ret_counter)
{
	return gc_search_is_known(interpreter) &&
	       frames_table_get(interpreter->kind)
		       ->find_gc_counter(interpreter, memory, ret_counter);
}

#define SEARCH_MIN_NS 50000000ull
#define SEARCH_MAX_NS 1000000000ull

bool gc_search_run(struct gc_search *search, const struct interpreter *interpreter,
		   const struct target_memory *memory, uint64_t now_ns)
{
	if (search->counter.count)
		return true;
	if (now_ns < search->due_ns)
		return false;
	if (gc_search_find(interpreter, memory, &search->counter))
		return true;
	search->wait_ns = search->wait_ns ? search->wait_ns * 2 : SEARCH_MIN_NS;
	if (search->wait_ns > SEARCH_MAX_NS)
		search->wait_ns = SEARCH_MAX_NS;
	search->due_ns = now_ns + search->wait_ns;
	return false;
}
