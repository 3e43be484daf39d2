/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of a function, once decoded, and walks through it: see exits_private.h. */
#include "probe/exits_private.h"

#include <stdlib.h>

#include "base/memory.h"

struct exits_step *exits_step_at(const struct exits_code *code, uint64_t offset)
{
	return table_get(&code->places, offset);
}

/* Follow a way until it ends or was visited. Steps that branch away are chained by their index in `branches`. */
bool exits_visit(struct exits_code *code, uint64_t from,
		 bool (*visit)(void *context, struct exits_step *step), void *context)
{
	uint64_t *branches = memory_alloc(code->count + 1, sizeof(*branches));
	size_t count = 0, i;
	bool goes_on = true;

	for (i = 0; i < code->count; i++)
		code->steps[i].visited = false;
	branches[count++] = from;
	while (count && goes_on) {
		struct exits_step *step = exits_step_at(code, branches[--count]);

		while (step && !step->visited && goes_on) {
			step->visited = true;
			goes_on = visit(context, step);
			if (step->is_exit)
				break;
			if (step->jumps)
				branches[count++] = step->target;
			step = step->goes_on ? exits_step_at(code, step->offset + step->flow.size)
					     : NULL;
		}
	}
	free(branches);
	return goes_on;
}
