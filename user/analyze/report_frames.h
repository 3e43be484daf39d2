/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts frames of a snapshot to frames of a report. */
#ifndef ANALYZE_REPORT_FRAMES_H
#define ANALYZE_REPORT_FRAMES_H

#include "analyze/report.h"

/* A list under construction. Free `items` with report_frames_free. */
struct frame_list {
	struct report_frame *items;
	size_t count, capacity;
	const struct frame_view *wanted; /* NULL = none */
	size_t found; /* position of `wanted` plus one; 0 = not found */
};

struct report_frame report_frame_of(const struct module_list *modules,
				    const struct frame_view *view);

/*
 * Add the shown frames of a stack: one captured frame becomes one for each function inlined there.
 * Returns the number of frames hidden with all their functions.
 */
size_t report_frames_add(struct frame_list *to, const struct module_list *modules,
			 const struct stack *stack, const struct report_options *options,
			 const struct report_names *names);

/* Request the names of the shown frames. */
void report_frames_ask(const struct stack *stack, const struct report_options *options,
		       const struct report_names *names);

/*
 * A hint for the innermost shown frame without a name, unless a line is known before it, which is
 * what a reader wants. NULL = none.
 */
const char *report_frames_hint(const struct stack *stack, const struct report_options *options,
			       const struct report_names *names);

/* Free what report_frame_of has allocated. */
void report_frame_clear(struct report_frame *frame);
void report_frames_free(struct report_frame *frames, size_t count);

#endif
