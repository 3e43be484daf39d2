/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See region_judge.h. */
#include "analyze/region_judge.h"

#include <string.h>

/* How far out of the mapping call the C library's function is that the program has called. */
#define MAKER_FRAMES 3

/* pthread_create has several names in one file, and maps nothing but stacks. */
static bool region_makes_thread(const char *function)
{
	static const char prefix[] = "__pthread_create";

	return function && (!strcmp(function, "pthread_create") ||
			    !strncmp(function, "pthread_create@", strlen("pthread_create@")) ||
			    !strncmp(function, prefix, strlen(prefix)));
}

static bool region_frame_makes_thread(const struct frame *frame, const struct report_names *names)
{
	struct frame_walk walk = frame_walk_begin(frame, names);
	struct frame_view view;

	while (frame_walk_next(&walk, &view))
		if (region_makes_thread(view.function))
			return true;
	return false;
}

/* All frames from the mapping call to that function are of its file: others map memory for themselves. */
static bool region_is_thread_stack(const struct stack *stack, const struct report_names *names)
{
	uint32_t i;

	for (i = 0; i < stack->count && i < MAKER_FRAMES; i++) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind != FRAME_NATIVE || frame->module == MODULE_NONE ||
		    frame->module != stack->frames[0].module)
			return false;
		if (region_frame_makes_thread(frame, names))
			return true;
	}
	return false;
}

enum region region_of_site(const struct snapshot_site *site, const struct report_names *names)
{
	bool undecided = site->region == REGION_NONE || site->region == REGION_JIT;

	/* Stacks may be executable, too. */
	if (undecided && site->source == SOURCE_MMAP && region_is_thread_stack(site->stack, names))
		return REGION_THREAD_STACK;
	return site->region;
}
