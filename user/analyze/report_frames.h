/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of a snapshot as those of a report. */
#ifndef ANALYZE_REPORT_FRAMES_H
#define ANALYZE_REPORT_FRAMES_H

#include "analyze/report.h"

/* Frames that are being added. Free `items` with report_frames_free. */
struct frame_list {
	struct report_frame *items;
	size_t count, capacity;
	const struct frame_view *wanted; /* NULL = none */
	size_t found; /* where it is, plus one; 0 = nowhere */
};

struct report_frame report_frame_of(const struct module_list *modules,
				    const struct frame_view *view);

/*
 * Add the frames that are shown of a stack: one captured frame becomes one for each function that was inlined there. Returns
 * how many frames are hidden, with all of their functions.
 */
size_t report_frames_add(struct frame_list *to, const struct module_list *modules,
			 const struct stack *stack, const struct report_options *options,
			 const struct report_names *names);

/* Have the names of the frames that are shown looked up. */
void report_frames_ask(const struct stack *stack, const struct report_options *options,
		       const struct report_names *names);

/*
 * A hint for the innermost frame that is shown without a name, unless a line is known before it: that is what a reader looks
 * for. NULL = none.
 */
const char *report_frames_hint(const struct stack *stack, const struct report_options *options,
			       const struct report_names *names);

/* Free what report_frame_of has made of `frame`. */
void report_frame_clear(struct report_frame *frame);
void report_frames_free(struct report_frame *frames, size_t count);

#endif
