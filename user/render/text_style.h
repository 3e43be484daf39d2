/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the text format: output, width, colour. */
#ifndef RENDER_TEXT_STYLE_H
#define RENDER_TEXT_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"
#include "model/estimate.h"
#include "render/columns.h"
#include "render/render.h"

/* Minimal width; narrower terminals wrap lines. */
#define TEXT_COLUMNS_MIN 60

enum text_style {
	STYLE_PLAIN,
	STYLE_STRONG, /* what to read first */
	STYLE_QUIET, /* what to read last */
	STYLE_WARNING,
	STYLE_CULPRIT, /* the application's line */
};

struct text_writer {
	struct buffer *out;
	bool color;
	size_t width; /* columns; COLUMNS_ANY with `paths` */
	size_t lines; /* size of the terminal; 0 = unknown */
	/* Frames per stack; 0 = as many as let the report fit a screen, all with `verbose` */
	size_t frames;
	bool verbose; /* the stacks of all rows */
	bool paths; /* with the modules' paths and build IDs */
};

/* The escape sequence of a style, for coloured output. */
const char *text_style_code(enum text_style style);
/* Everything appended from here on has `style`; no effect without color. */
void text_style_set(const struct text_writer *writer, enum text_style style);

/* A count in at most 11 columns: exact below 10^9. Returns `text`, of UNITS_TEXT_MAX bytes. */
const char *text_format_count(uint64_t count, char *text);
/* Put "~" before an estimate. Returns `text`, which may grow by one byte. */
const char *text_approximate(char *text, bool sampled);
/* "+1.3 MiB", "-12 B" or "0". Returns `text`, of UNITS_TEXT_MAX + 1 bytes. */
const char *text_format_growth(int64_t bytes, char *text);

/* "~+2.4 MiB (+1.1 MiB to +3.2 MiB)": growth that is estimated. Returns `text`, of TEXT_LIMITS_MAX bytes. */
#define TEXT_LIMITS_MAX (3 * UNITS_TEXT_MAX + 16)
const char *text_format_limits(const struct estimate *growth, char *text);

/* Number of lines in the text after a position. */
size_t text_count_lines(const struct buffer *text, size_t from);

#endif
