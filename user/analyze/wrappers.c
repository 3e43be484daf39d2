/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See wrappers.h. Calls are sorted by the frame that was called, so that those of each frame are a run. */
#include "analyze/wrappers.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/memory.h"

/* Fewer callers may be the parts of a program that share a function which holds what it allocates. */
#define CALLERS_MIN 8
#define LEVELS 3

/* The innermost frame of a stack beside wrappers, and the frame that called it. */
struct wrapped_call {
	uint64_t frame, caller_place;
	const struct frame *caller;
};

static uint64_t wrappers_key(const struct frame *frame)
{
	return hash_word(hash_word(1, frame->module), frame->offset);
}

bool wrappers_have(const struct wrappers *wrappers, const struct frame *frame)
{
	return wrappers->frames.count && frame->kind == FRAME_NATIVE &&
	       table_get(&wrappers->frames, wrappers_key(frame));
}

static bool wrappers_is_native(const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE && !frame->internal && !frame->whole &&
	       frame->module != MODULE_NONE;
}

/* False if no native function has called the frame. */
static bool wrappers_call_of(const struct wrappers *wrappers, const struct stack *stack,
			     struct wrapped_call *ret_call)
{
	uint32_t i = 0;

	while (i < stack->count && wrappers_have(wrappers, &stack->frames[i]))
		i++;
	if (i + 1 >= stack->count || !wrappers_is_native(&stack->frames[i]) ||
	    !wrappers_is_native(&stack->frames[i + 1]))
		return false;
	*ret_call = (struct wrapped_call){ wrappers_key(&stack->frames[i]),
					   wrappers_key(&stack->frames[i + 1]),
					   &stack->frames[i + 1] };
	return true;
}

static int wrapped_call_compare(const void *a, const void *b)
{
	const struct wrapped_call *left = a, *right = b;
	int order = compare_numbers(left->frame, right->frame);

	return order ? order : compare_numbers(left->caller_place, right->caller_place);
}

/* The calls of all stacks, each place of a caller once. Returns how many there are. */
static size_t wrappers_list_calls(const struct wrappers *wrappers, const struct snapshot *snapshot,
				  struct wrapped_call *calls)
{
	size_t count = 0, kept = 0, i;

	for (i = 0; i < snapshot->site_count; i++)
		count += wrappers_call_of(wrappers, snapshot->sites[i].stack, &calls[count]);
	qsort(calls, count, sizeof(*calls), wrapped_call_compare);
	for (i = 0; i < count; i++)
		if (!kept || wrapped_call_compare(&calls[kept - 1], &calls[i]))
			calls[kept++] = calls[i];
	return kept;
}

/* Do calls of one frame come from enough functions? A place without a name counts as a function. */
static bool wrappers_is_one(const struct wrapped_call *calls, size_t count,
			    const struct report_names *names)
{
	const char *functions[CALLERS_MIN];
	size_t named = 0, nameless = 0, i, n;

	for (i = 0; i < count && count >= CALLERS_MIN; i++) {
		struct frame_walk walk = frame_walk_begin(calls[i].caller, names);
		struct frame_view view;

		if (!frame_walk_next(&walk, &view) || !view.function) {
			nameless++;
		} else {
			for (n = 0; n < named && strcmp(functions[n], view.function); n++)
				;
			if (n == named)
				functions[named++] = view.function;
		}
		if (named + nameless == CALLERS_MIN)
			return true;
	}
	return false;
}

/* Returns how many were found. */
static size_t wrappers_find_level(struct wrappers *wrappers, const struct wrapped_call *calls,
				  size_t count, const struct report_names *names)
{
	static char is_wrapper;
	size_t found = 0, from, to;

	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count && calls[to].frame == calls[from].frame; to++)
			;
		if (!wrappers_is_one(&calls[from], to - from, names))
			continue;
		table_put(&wrappers->frames, calls[from].frame, &is_wrapper);
		found++;
	}
	return found;
}

void wrappers_find(struct wrappers *wrappers, const struct snapshot *snapshot,
		   const struct report_names *names)
{
	struct wrapped_call *calls = memory_alloc(snapshot->site_count + 1, sizeof(*calls));
	size_t level, count;

	for (level = 0; level < LEVELS; level++) {
		count = wrappers_list_calls(wrappers, snapshot, calls);
		if (!wrappers_find_level(wrappers, calls, count, names))
			break;
	}
	free(calls);
}

void wrappers_free(struct wrappers *wrappers)
{
	table_free(&wrappers->frames);
}
