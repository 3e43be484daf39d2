/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a stack: its frames, and what was inlined into them, by name. */
#ifndef ANALYZE_FRAME_VIEW_H
#define ANALYZE_FRAME_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stack.h"
#include "model/symbols.h"

/* How a report gets the names that the snapshot has not: symbolizer_lookup in the program, a table in a test. */
struct report_names {
	const struct symbol_list *(*lookup)(void *context, const struct frame *frame);
	void *context;
	/*
	 * What may have the name of a frame for which lookup has found none: a sentence that lives as long as the report. NULL, or
	 * that it returns: nothing is known.
	 */
	const char *(*hint)(void *context, const struct frame *frame);
};

/* A function of a frame. Texts are NULL, and the line 0, where they are unknown. */
struct frame_view {
	const struct frame *frame;
	const char *function; /* of FRAME_ERROR: the reason */
	const char *file;
	uint32_t line;
	bool inlined;
	/* The same for the same function and line, as long as the report is made; NULL = it has no name. */
	const void *identity;
};

/* Are they the same function of the same frame? */
bool frame_view_is(const struct frame_view *a, const struct frame_view *b);

/* A walk over the functions of a frame, the innermost first. */
struct frame_walk {
	const struct frame *frame;
	const struct symbol_list *symbols; /* NULL = none but what the frame has itself */
	size_t next;
};

/* There is at least one function. */
struct frame_walk frame_walk_begin(const struct frame *frame, const struct report_names *names);
bool frame_walk_next(struct frame_walk *walk, struct frame_view *ret_view);

#endif
