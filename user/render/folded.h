/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of the folded format, sorted, with equal stacks added up. */
#ifndef RENDER_FOLDED_H
#define RENDER_FOLDED_H

#include "base/strings.h"
#include "render/render.h"

/*
 * A line in pieces, each with its separator: equal pieces have one address, since stacks share most
 * frames.
 */
struct folded_line {
	const char **pieces;
	size_t count;
	uint64_t bytes;
	bool sampled; /* includes estimates */
};

/* {0} is empty. folded_write and folded_free empty it. */
struct folded {
	struct folded_line *lines;
	size_t count, capacity;
	struct strings strings; /* of the pieces */
	struct buffer text; /* scratch buffer */
};

/* Add the stack of an open site with a value. */
void folded_add_site(struct folded *folded, const struct report_site *site, uint64_t bytes);
/* Add all sites of a report that hold anything, with their bytes in use. */
void folded_add_report(struct folded *folded, const struct report *report);
/* Sort the lines, so that equal stacks are adjacent, and those with common outermost frames. */
void folded_sort(struct folded *folded);
void folded_free(struct folded *folded);
/* Append all lines to `out`, and free everything. */
void folded_write(struct folded *folded, const struct render_options *options, struct buffer *out);

#endif
