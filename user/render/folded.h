/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the folded format, sorted, and those of equal stacks added up. */
#ifndef RENDER_FOLDED_H
#define RENDER_FOLDED_H

#include "base/strings.h"
#include "render/render.h"

/* A line by its pieces, each with what ends it: equal ones have one address, since stacks have most frames in common. */
struct folded_line {
	const char **pieces;
	size_t count;
	uint64_t bytes;
	bool sampled; /* they are an estimate */
};

/* {0} is empty. folded_write and folded_free empty it. */
struct folded {
	struct folded_line *lines;
	size_t count, capacity;
	struct strings strings; /* of the pieces */
	struct buffer text; /* that is being made */
};

/* Add the stack of an open site with a value. */
void folded_add_site(struct folded *folded, const struct report_site *site, uint64_t bytes);
/* The sites of a report that hold any byte, with what they hold. */
void folded_add_report(struct folded *folded, const struct report *report);
/* Order the lines, so that equal stacks follow each other, and those that have their outermost frames in common. */
void folded_sort(struct folded *folded);
void folded_free(struct folded *folded);
/* Append all lines to `out`, and free what they were made of. */
void folded_write(struct folded *folded, const struct render_options *options, struct buffer *out);

#endif
