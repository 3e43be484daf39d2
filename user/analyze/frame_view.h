/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a stack: its frames and the functions inlined into them, by name. */
#ifndef ANALYZE_FRAME_VIEW_H
#define ANALYZE_FRAME_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stack.h"
#include "model/symbols.h"

/* How a report gets names that the snapshot lacks: from symbolizer_lookup, or a table in a test. */
struct report_names {
	const struct symbol_list *(*lookup)(void *context, const struct frame *frame);
	void *context;
	/*
	 * Suggests where the name of a frame might be found after lookup has failed: a sentence
	 * that lives as long as the report. NULL, or a NULL result: unknown.
	 */
	const char *(*hint)(void *context, const struct frame *frame);
};

/* A function of a frame. Texts are NULL, and the line 0, where they are unknown. */
struct frame_view {
	const struct frame *frame;
	const char *function; /* for FRAME_ERROR: the reason */
	const char *file;
	uint32_t line;
	bool inlined;
	/* Equal for equal function and line, during one report; NULL = no name. */
	const void *identity;
};

/* Are they the same function in the same frame? */
bool frame_view_is(const struct frame_view *a, const struct frame_view *b);

/* A walk over the functions of a frame, the innermost first. */
struct frame_walk {
	const struct frame *frame;
	const struct symbol_list *symbols; /* NULL = only the frame's own name */
	size_t next;
};

/* There is at least one function. */
struct frame_walk frame_walk_begin(const struct frame *frame, const struct report_names *names);
bool frame_walk_next(struct frame_walk *walk, struct frame_view *ret_view);

#endif
