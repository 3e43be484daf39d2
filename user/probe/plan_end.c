/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the plan that is about functions by which a process ends itself: what exit() calls when all else is done, in the C library or
 * in a static program.
 */
#include <linux/types.h>

#include "base/memory.h"
#include "probe/plan_private.h"
#include "tracer_abi.h"

#define PROCESS_END SHAPE(CALL_PROCESS_END, 0, 0, 0, RESULT_POINTER, SOURCE_HEAP)

static const struct allocator_function ends[] = {
	{ "_exit", "_exit", PROCESS_END, SCOPE_ANY },
	{ "_Exit", "_Exit", PROCESS_END, SCOPE_ANY },
};

#define END_COUNT (sizeof(ends) / sizeof(ends[0]))

size_t plan_end_rows(const struct plan *plan, const struct allocator_function ***rows, size_t count)
{
	size_t i;

	if (!plan->options.ends)
		return count;
	*rows = memory_resize(*rows, count + END_COUNT, sizeof(**rows));
	for (i = 0; i < END_COUNT; i++)
		(*rows)[count++] = &ends[i];
	return count;
}
