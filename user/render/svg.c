/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph of what is in use, as an SVG file that needs nothing else: the width of a frame is its share of the bytes, what called it
 * is below it, and its title has the figures. Names are those of the folded format, without what may not be in XML.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "render/folded.h"
#include "render/formats.h"

#define SVG_WIDTH 1200
#define SVG_MARGIN 10
#define SVG_ROW 17
#define SVG_TOP 44
#define SVG_BOTTOM 14
/* Narrower frames are not drawn. */
#define SVG_NARROW 0.1
/* A column of text, at the size of the style, and the space at both its ends. */
#define SVG_COLUMN 6.7
#define SVG_PADDING 6
/* Of a name, so many columns are written. */
#define SVG_TITLE_COLUMNS 400
#define SVG_COLOURS 6

struct svg_frame {
	const char *piece; /* of a line */
	double start; /* bytes left of it */
	uint64_t bytes;
	bool sampled; /* some of them are an estimate */
};

struct svg {
	struct buffer *out;
	const struct render_options *options;
	struct svg_frame *open; /* from the outermost inwards */
	size_t depth, capacity;
	double total; /* bytes of all lines */
	size_t rows; /* of the frames that are drawn */
	bool draws; /* false: the rows are counted */
};

/* Text for XML: two characters that Unicode has and XML has not are left, beyond those that the folded format replaces. */
static void svg_append_rune(struct buffer *out, const char *text, size_t length, unsigned int rune)
{
	static const char *const escapes[] = {
		['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"
	};

	if (rune < sizeof(escapes) / sizeof(escapes[0]) && escapes[rune])
		buffer_append_string(out, escapes[rune]);
	else if (!length || text_rune_is_unsafe(rune) || rune == 0xfffe || rune == 0xffff)
		buffer_append_string(out, "?");
	else
		buffer_append(out, text, length);
}

/* No more than so many columns of a name, which ends with the byte `end` before its NUL, or with 0. */
static void svg_append_name(struct buffer *out, const char *name, char end, size_t columns)
{
	const char *last = name + strlen(name);
	unsigned int rune = 0;
	size_t length, width = 0;

	last -= end && last > name && last[-1] == end;
	for (; name < last; name += length ? length : 1) {
		length = text_decode_utf8(name, &rune);
		width += length ? text_rune_width(rune) : 1;
		if (width + 2 > columns && name + length < last) {
			buffer_append_string(out, "..");
			return;
		}
		svg_append_rune(out, name, length, length ? rune : 0);
	}
}

static double svg_x(const struct svg *svg, double bytes)
{
	return SVG_MARGIN + bytes / svg->total * (SVG_WIDTH - 2 * SVG_MARGIN);
}

/* The last byte of a piece is no part of the name: a blank ends the allocator's function. */
static char svg_end(const char *piece)
{
	size_t length = strlen(piece);

	return length ? piece[length - 1] : 0;
}

static void svg_append_class(struct svg *svg, const struct svg_frame *frame, size_t row)
{
	if (!row)
		buffer_append_string(svg->out, "p");
	else if (svg_end(frame->piece) == ' ')
		buffer_append_string(svg->out, "a");
	else
		buffer_printf(svg->out, "c%u",
			      (unsigned int)(hash_string(HASH_BEGIN, frame->piece) >> 24) %
				      SVG_COLOURS);
}

static void svg_draw(struct svg *svg, const struct svg_frame *frame, size_t row)
{
	const double x = svg_x(svg, frame->start);
	const double width = (double)frame->bytes / svg->total * (SVG_WIDTH - 2 * SVG_MARGIN);
	const size_t y = SVG_TOP + (svg->rows - row - 1) * SVG_ROW;
	const char end = svg_end(frame->piece);
	char size[UNITS_TEXT_MAX];

	buffer_append_string(svg->out, "<g class=\"");
	svg_append_class(svg, frame, row);
	buffer_append_string(svg->out, "\"><title>");
	svg_append_name(svg->out, frame->piece, end, SVG_TITLE_COLUMNS);
	buffer_printf(svg->out, ": %s%s (%" PRIu64 " bytes, %.2f %%)</title>",
		      frame->sampled ? "~" : "", units_format_size(frame->bytes, size),
		      frame->bytes, 100.0 * (double)frame->bytes / svg->total);
	buffer_printf(svg->out,
		      "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" rx=\"1\"/>", x, y,
		      width, SVG_ROW - 1);
	if (width > 3 * SVG_COLUMN + SVG_PADDING) {
		buffer_printf(svg->out, "<text x=\"%.2f\" y=\"%zu\">", x + SVG_PADDING / 2.0,
			      y + SVG_ROW - 5);
		svg_append_name(svg->out, frame->piece, end,
				(size_t)((width - SVG_PADDING) / SVG_COLUMN));
		buffer_append_string(svg->out, "</text>");
	}
	buffer_append_string(svg->out, "</g>\n");
}

static bool svg_is_wide(const struct svg *svg, const struct svg_frame *frame)
{
	return (double)frame->bytes / svg->total * (SVG_WIDTH - 2 * SVG_MARGIN) >= SVG_NARROW;
}

/* What was open beyond `depth` has no more lines. */
static void svg_close(struct svg *svg, size_t depth)
{
	while (svg->depth > depth) {
		const struct svg_frame *frame = &svg->open[--svg->depth];

		if (!svg_is_wide(svg, frame))
			continue;
		if (svg->draws)
			svg_draw(svg, frame, svg->depth);
		else if (svg->rows <= svg->depth)
			svg->rows = svg->depth + 1;
	}
}

static void svg_add_bytes(uint64_t *bytes, uint64_t more)
{
	if (__builtin_add_overflow(*bytes, more, bytes))
		*bytes = UINT64_MAX;
}

static void svg_add_line(struct svg *svg, const struct folded_line *line, double start)
{
	size_t i = 0;

	while (i < svg->depth && i < line->count && svg->open[i].piece == line->pieces[i])
		i++;
	svg_close(svg, i);
	for (; i < line->count; i++) {
		svg->open = memory_grow(svg->open, svg->depth, &svg->capacity, sizeof(*svg->open));
		svg->open[svg->depth++] =
			(struct svg_frame){ .piece = line->pieces[i], .start = start };
	}
	for (i = 0; i < svg->depth; i++) {
		svg_add_bytes(&svg->open[i].bytes, line->bytes);
		svg->open[i].sampled |= line->sampled;
	}
}

/* All sorted lines. */
static void svg_walk(struct svg *svg, const struct folded *folded)
{
	double start = 0;
	size_t i;

	for (i = 0; i < folded->count && render_drain(svg->options, svg->out); i++) {
		svg_add_line(svg, &folded->lines[i], start);
		start += (double)folded->lines[i].bytes;
	}
	svg_close(svg, 0);
}

/* Colours for both backgrounds. Text keeps its contrast on all of them. */
static void svg_append_style(struct svg *svg)
{
	buffer_append_string(
		svg->out,
		"<style>\n"
		"svg{background:#fff;font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\","
		"monospace}\n"
		"text{fill:#1d2330}.h{font:600 15px system-ui,sans-serif}"
		".s{font:12px system-ui,sans-serif;fill:#5b6472}\n"
		"g:hover rect{stroke:#1d2330;stroke-width:1}\n"
		".p rect{fill:#d5dae3}.a rect{fill:#c3cad6}.c0 rect{fill:#f6b26b}"
		".c1 rect{fill:#f9c780}.c2 rect{fill:#f39c82}.c3 rect{fill:#f7d774}"
		".c4 rect{fill:#eeb48f}.c5 rect{fill:#e8c66a}\n"
		"@media (prefers-color-scheme:dark){svg{background:#14171d}text{fill:#f1f3f7}"
		".s{fill:#9aa4b5}g:hover rect{stroke:#fff}\n"
		".p rect{fill:#3a4150}.a rect{fill:#4a5264}.c0 rect{fill:#9a5a1c}"
		".c1 rect{fill:#8a6420}.c2 rect{fill:#94452f}.c3 rect{fill:#7d6a17}"
		".c4 rect{fill:#865236}.c5 rect{fill:#776018}}\n"
		"</style>\n");
}

static void svg_append_heading(struct svg *svg, const struct report *report)
{
	const struct target *target = report->target_count ? report->targets[0] : NULL;
	char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (report->target_count == 1) {
		svg_append_name(svg->out, *target->comm ? target->comm : "[unknown]", 0,
				SVG_TITLE_COLUMNS);
		buffer_printf(svg->out, " (%d)", target->pid);
	} else {
		buffer_printf(svg->out, "%zu processes", report->target_count);
	}
	units_format_size(site_stats_inuse_bytes(&report->totals), size);
	if (report->options.is_lost)
		buffer_printf(svg->out, ": %s lost", size);
	else
		buffer_printf(svg->out, ": %s%s in use after %s",
			      site_stats_hold(&report->sampled) ? "~" : "", size,
			      units_format_time(report->duration_ns, time));
}

static void svg_append_head(struct svg *svg, const struct report *report)
{
	const size_t height = SVG_TOP + svg->rows * SVG_ROW + SVG_BOTTOM;

	buffer_printf(svg->out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\""
		      " viewBox=\"0 0 %d %zu\" role=\"img\">\n<title>",
		      SVG_WIDTH, height, SVG_WIDTH, height);
	svg_append_heading(svg, report);
	buffer_append_string(svg->out, "</title>\n");
	svg_append_style(svg);
	buffer_printf(svg->out, "<text class=\"h\" x=\"%d\" y=\"20\">", SVG_MARGIN);
	svg_append_heading(svg, report);
	buffer_printf(svg->out, "</text>\n<text class=\"s\" x=\"%d\" y=\"36\">", SVG_MARGIN);
	if (svg->total > 0)
		buffer_printf(
			svg->out,
			"The width of a frame is its share of the bytes %s; what called it is "
			"below it.",
			report->options.is_lost ? "lost" : "in use");
	else
		buffer_append_string(svg->out, report->options.is_lost ? "Nothing is lost."
								       : "No site holds a byte.");
	buffer_append_string(svg->out, "</text>\n");
}

void render_svg(const struct report *report, const struct render_options *options,
		struct buffer *out)
{
	struct svg svg = { .out = out, .options = options };
	struct folded folded = { 0 };
	size_t i;

	folded_add_report(&folded, report);
	folded_sort(&folded);
	for (i = 0; i < folded.count; i++)
		svg.total += (double)folded.lines[i].bytes;
	svg_walk(&svg, &folded);
	svg.draws = true;
	svg_append_head(&svg, report);
	svg_walk(&svg, &folded);
	buffer_append_string(out, "</svg>\n");
	free(svg.open);
	folded_free(&folded);
}
