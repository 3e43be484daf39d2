/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the text format share: where they write, how wide, with or without color. */
#ifndef RENDER_TEXT_STYLE_H
#define RENDER_TEXT_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "render/render.h"

#define TEXT_COLUMNS 80

enum text_style {
	STYLE_PLAIN,
	STYLE_STRONG, /* what to read first */
	STYLE_QUIET, /* what to read last */
	STYLE_WARNING,
};

struct text_writer {
	struct buffer *out;
	bool color;
	bool verbose; /* no limit on the width, nothing left out */
};

/* Everything appended from here on has `style`; no effect without color. */
void text_style_set(const struct text_writer *writer, enum text_style style);

/* The table of sites with their stacks, and the row of totals. */
void text_sites(const struct text_writer *writer, const struct report *report,
		const struct render_options *options);
/* The stack of one site; function names are padded to `name_column`. */
void text_stack(const struct text_writer *writer, const struct report_site *site,
		size_t name_column);
/* Print what realloc has done with blocks in use, if anything: that they only grow, and what cannot be known of them. */
void text_realloc(const struct text_writer *writer, const struct site_stats *stats);
/* The columns that the widest function name of the stack needs, within a bound. */
size_t text_stack_name_column(const struct text_writer *writer, const struct report_site *site);
/* A count in at most 11 columns: exact below a thousand million. Returns `text`, of UNITS_TEXT_MAX bytes. */
const char *text_format_count(uint64_t count, char *text);
/* Put "~" before a figure that is an estimate. Returns `text`, which may become longer by one. */
const char *text_approximate(char *text, bool sampled);
/* The totals of the processes. */
void text_processes(const struct text_writer *writer, const struct report *report);
/* What was lost, the coverage and the summary. */
void text_coverage(const struct text_writer *writer, const struct report *report);

/* Is the site among those that the text format shows? */
bool text_shows_site(const struct report *report, const struct report_site *site);

#endif
