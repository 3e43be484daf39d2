/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A difference as text: what is compared, a table of sites, what has grown most first, the stacks of the first ones, and what may
 * be wrong with the comparison.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/source.h"
#include "render/difference.h"
#include "render/difference_view.h"
#include "render/formats.h"
#include "render/text_place.h"
#include "render/text_style.h"

#define COLUMNS_MAX 6
#define MARK_COLUMN 5
#define WINDOWS_COLUMNS 3
#define CELL_MAX (2 * UNITS_TEXT_MAX + 8)
#define STACKS_SHOWN 3
#define FRAMES_SHOWN 8
#define STACK_INDENT 5
#define NAME_COLUMN 39
#define SITE_MIN 20

/* The figures of a row, and how wide their columns are. */
struct cells {
	char text[COLUMNS_MAX][CELL_MAX];
};

struct table_layout {
	size_t widths[COLUMNS_MAX];
	size_t count;
	size_t rows, shown;
};

static const char *const titles_of_two[] = { "#", "GROWTH", "BLOCKS", "BEFORE", "AFTER", "" };
static const char *const titles_of_windows[] = { "#", "GROWTH", "95 %", "", "", "" };
static const char *const titles_of_three[] = { "#", "RETAINED", "BLOCKS", "A", "B", "C" };

/* Of three profiles, rows are of what is retained. */
static bool difference_text_is_of_three(const struct difference *difference)
{
	return difference->profile_count == 3;
}

static const char *const *difference_text_titles(const struct difference *difference)
{
	if (difference->windows)
		return titles_of_windows;
	return difference_text_is_of_three(difference) ? titles_of_three : titles_of_two;
}

/* Opening */

static void difference_text_paragraph(const struct text_writer *writer, struct buffer *line)
{
	columns_wrap(writer->out, line->data, writer->width, 0);
	buffer_clear(line);
}

/* "x.db@before -> x.db@after: ~+2.2 MiB (+1.8 MiB to +2.6 MiB) are in use" */
static void difference_text_opening_of_windows(const struct text_writer *writer,
					       const struct difference *difference)
{
	struct buffer line = { 0 };
	char limits[TEXT_LIMITS_MAX];

	buffer_printf(&line, "%s -> %s: %s in use", difference->profiles[0]->name,
		      difference->profiles[1]->name,
		      text_format_limits(&difference->since, limits));
	text_style_set(writer, STYLE_STRONG);
	difference_text_paragraph(writer, &line);
	text_style_set(writer, STYLE_PLAIN);
	buffer_printf(&line,
		      "Sites: %zu grown, %zu shrunk, %zu of which neither is certain. All of it is "
		      "estimated of windows, with limits of 95 %%.",
		      difference->words[DIFFERENCE_GROWN], difference->words[DIFFERENCE_SHRUNK],
		      difference->words[DIFFERENCE_UNCERTAIN]);
	difference_text_paragraph(writer, &line);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* "x.db@before (12:00:00) 1.2 MiB -> x.db@after (12:10:00) 3.4 MiB: +2.2 MiB in use, +5,517 blocks" */
static void difference_text_opening(const struct text_writer *writer,
				    const struct difference *difference)
{
	char size[UNITS_TEXT_MAX + 1], count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	int64_t blocks = difference->growth_objects;
	size_t i;

	for (i = 0; i < difference->profile_count; i++) {
		const struct profile *profile = difference->profiles[i];

		buffer_printf(&line, "%s%s: %s", i ? " -> " : "", profile->name,
			      units_format_size(profile_inuse_bytes(&profile->totals), size));
	}
	buffer_printf(&line, " in use; %s", text_format_growth(difference->growth_bytes, size));
	text_format_count(blocks < 0 ? -(uint64_t)blocks : (uint64_t)blocks, count);
	buffer_printf(&line, ", %s%s block%s", blocks < 0 ? "-" : "+", count,
		      units_s(blocks < 0 ? -(uint64_t)blocks : (uint64_t)blocks));
	text_style_set(writer, STYLE_STRONG);
	difference_text_paragraph(writer, &line);
	text_style_set(writer, STYLE_PLAIN);
	buffer_free(&line);
}

/* "6.8 KiB", or "1.2 KiB to 6.8 KiB" where only limits are known. */
static void difference_text_range(uint64_t low, uint64_t high, bool is_size, char cell[CELL_MAX])
{
	char least[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (is_size) {
		units_format_size(low, least);
		units_format_size(high, most);
	} else {
		text_format_count(low, least);
		text_format_count(high, most);
	}
	if (low == high)
		snprintf(cell, CELL_MAX, "%s", most);
	else if (!low)
		snprintf(cell, CELL_MAX, "<= %s", most);
	else
		snprintf(cell, CELL_MAX, "%s to %s", least, most);
}

static void difference_text_retained(const struct text_writer *writer,
				     const struct difference *difference)
{
	const struct retained *all = &difference->retained;
	char bytes[CELL_MAX], blocks[CELL_MAX];
	struct buffer line = { 0 };

	difference_text_range(all->low_bytes, all->high_bytes, true, bytes);
	difference_text_range(all->low_objects, all->high_objects, false, blocks);
	buffer_printf(&line, "Born between A and B, and in use at C: %s, %s block%s, ", bytes,
		      blocks, units_s(all->high_objects));
	if (difference->births_known)
		buffer_append_string(&line, "by the birth of each.");
	else
		buffer_append_string(&line, "by what was in use and allocated: births are known "
					    "where A and B are marks of one recording, and C is in "
					    "it, too.");
	difference_text_paragraph(writer, &line);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

static void difference_text_words(const struct text_writer *writer,
				  const struct difference *difference)
{
	const size_t *words = difference->words;
	struct buffer line = { 0 };

	buffer_printf(&line, "Sites: %zu new, %zu grown, %zu the same, %zu shrunk, %zu gone.",
		      words[DIFFERENCE_NEW], words[DIFFERENCE_GROWN], words[DIFFERENCE_SAME],
		      words[DIFFERENCE_SHRUNK], words[DIFFERENCE_GONE]);
	difference_text_paragraph(writer, &line);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* Table */

static void difference_text_size(const struct difference_site *site, size_t index, char *cell)
{
	char size[UNITS_TEXT_MAX + 1] = "?";

	if (site->known[index]) {
		units_format_size(profile_inuse_bytes(&site->figures[index]), size);
		text_approximate(size, site->row->sampled);
	}
	snprintf(cell, CELL_MAX, "%s", size);
}

static const char *difference_text_word(const struct difference_site *site)
{
	if (site->word == DIFFERENCE_NEW || site->word == DIFFERENCE_GONE)
		return difference_word(site->word);
	return site->word == DIFFERENCE_UNKNOWN ? "?" : "";
}

static void difference_text_retained_cells(const struct difference_site *site, struct cells *cells)
{
	const struct retained *retained = &site->retained;
	size_t i;

	snprintf(cells->text[1], CELL_MAX, "?");
	snprintf(cells->text[2], CELL_MAX, "?");
	if (retained->known) {
		difference_text_range(retained->low_bytes, retained->high_bytes, true,
				      cells->text[1]);
		difference_text_range(retained->low_objects, retained->high_objects, false,
				      cells->text[2]);
	}
	for (i = 0; i < 3; i++)
		difference_text_size(site, i, cells->text[3 + i]);
}

static void difference_text_estimated_cells(const struct difference_site *site, struct cells *cells)
{
	char size[UNITS_TEXT_MAX + 2] = "?", low[UNITS_TEXT_MAX + 1] = "", high[UNITS_TEXT_MAX + 1];

	if (site->estimated) {
		text_format_growth(site->growth_bytes, size);
		text_approximate(size, true);
		text_format_growth(estimate_bytes(site->since.low), low);
		text_format_growth(estimate_bytes(site->since.high), high);
		snprintf(cells->text[2], CELL_MAX, "%s to %s", low, high);
	}
	snprintf(cells->text[1], CELL_MAX, "%s", size);
}

static void difference_text_cells(const struct difference *difference, size_t index,
				  struct cells *cells)
{
	const struct difference_site *site = &difference->sites[index];
	const int64_t blocks = site->growth_objects;
	const bool known = site->word != DIFFERENCE_UNKNOWN;
	char growth[UNITS_TEXT_MAX + 1] = "?", count[UNITS_TEXT_MAX] = "?";

	if (known) {
		text_format_growth(site->growth_bytes, growth);
		text_format_count(blocks < 0 ? -(uint64_t)blocks : (uint64_t)blocks, count);
	}
	*cells = (struct cells){ 0 };
	snprintf(cells->text[0], CELL_MAX, "%zu", index + 1);
	if (difference->windows) {
		difference_text_estimated_cells(site, cells);
		return;
	}
	if (difference_text_is_of_three(difference)) {
		difference_text_retained_cells(site, cells);
		return;
	}
	snprintf(cells->text[1], CELL_MAX, "%s", growth);
	snprintf(cells->text[2], CELL_MAX, "%s%s",
		 !known || !blocks ? ""
		 : blocks < 0	   ? "-"
				   : "+",
		 count);
	difference_text_size(site, 0, cells->text[3]);
	difference_text_size(site, difference->profile_count - 1, cells->text[4]);
	snprintf(cells->text[5], CELL_MAX, "%s", difference_text_word(site));
}

/* Of three profiles, rows of which nothing can be retained are the last ones, and none of the table. */
static size_t difference_text_count_rows(const struct difference *difference)
{
	size_t count = difference->site_count;

	while (difference_text_is_of_three(difference) && count &&
	       difference->sites[count - 1].retained.known &&
	       !difference->sites[count - 1].retained.high_objects)
		count--;
	return count;
}

static void layout_find(struct table_layout *layout, const struct difference *difference,
			size_t top)
{
	struct cells cells;
	size_t i, n;

	layout->count = COLUMNS_MAX;
	layout->rows = difference_text_count_rows(difference);
	layout->shown = top && top < layout->rows ? top : layout->rows;
	for (n = 0; n < layout->count; n++)
		layout->widths[n] = strlen(difference_text_titles(difference)[n]);
	for (i = 0; i < layout->shown; i++) {
		difference_text_cells(difference, i, &cells);
		for (n = 0; n < layout->count; n++)
			if (strlen(cells.text[n]) > layout->widths[n])
				layout->widths[n] = strlen(cells.text[n]);
	}
	if (difference->windows)
		layout->count = WINDOWS_COLUMNS;
	/* Without a new site, nothing has to be marked as one. */
	layout->count -= !difference->windows && !layout->widths[MARK_COLUMN];
}

static size_t layout_site_width(const struct text_writer *writer, const struct table_layout *layout)
{
	size_t used = 0, i;

	for (i = 0; i < layout->count; i++)
		used += layout->widths[i] + 2;
	if (writer->width == COLUMNS_ANY)
		return COLUMNS_ANY;
	return writer->width > used + SITE_MIN ? writer->width - used : SITE_MIN;
}

static void difference_text_row(const struct text_writer *writer, const struct table_layout *layout,
				const char *const *texts)
{
	size_t i;

	for (i = 0; i < layout->count; i++)
		buffer_printf(writer->out, "%*s  ", (int)layout->widths[i], texts[i]);
}

/* "known.c:71 leak_here": less of the path where there is not room for both. */
static void difference_text_place(const struct difference_site *site, size_t width,
				  struct buffer *out)
{
	struct buffer place = { 0 }, more = { 0 };
	struct difference_view view;
	size_t least, used;

	difference_view_open(&view, site);
	text_place_append_more(&more, &view.site, COLUMNS_ANY);
	used = more.data ? columns_of(more.data) + 1 : 0;
	least = text_place_least(&view.site);
	least = used + least < width ? width - used : least < width ? least : width;
	text_place_append_row(&place, &view.site, width == COLUMNS_ANY ? width : least);
	buffer_append_string(out, place.data);
	used = columns_of(place.data) + 1;
	if (more.data && used < width) {
		buffer_append_string(out, " ");
		columns_append_start(out, more.data, width == COLUMNS_ANY ? width : width - used);
	}
	difference_view_close(&view);
	buffer_free(&place);
	buffer_free(&more);
}

static void difference_text_table(const struct text_writer *writer,
				  const struct difference *difference,
				  const struct table_layout *layout)
{
	const size_t width = layout_site_width(writer, layout);
	const char *texts[COLUMNS_MAX];
	struct cells cells;
	size_t i, n;

	text_style_set(writer, STYLE_QUIET);
	difference_text_row(writer, layout, difference_text_titles(difference));
	buffer_append_string(writer->out, "SITE\n");
	text_style_set(writer, STYLE_PLAIN);
	for (i = 0; i < layout->shown; i++) {
		difference_text_cells(difference, i, &cells);
		for (n = 0; n < layout->count; n++)
			texts[n] = cells.text[n];
		difference_text_row(writer, layout, texts);
		difference_text_place(&difference->sites[i], width, writer->out);
		buffer_append_string(writer->out, "\n");
	}
	if (layout->shown < layout->rows)
		buffer_printf(writer->out, "%zu more site%s: -n 0 shows all\n",
			      layout->rows - layout->shown, units_s(layout->rows - layout->shown));
}

/* Stacks */

static void difference_text_frame(const struct text_writer *writer,
				  const struct report_frame *frame)
{
	struct buffer name = { 0 }, place = { 0 };
	size_t width = writer->width, used;

	if (frame->kind == FRAME_ERROR) {
		buffer_printf(&name, "[stack cut short%s%s]", frame->function ? ": " : "",
			      frame->function ? frame->function : "");
		buffer_printf(writer->out, "%*s", STACK_INDENT, "");
		columns_append_start(writer->out, name.data, width);
		buffer_append_string(writer->out, "\n");
		buffer_free(&name);
		return;
	}
	text_place_append_name(&name, frame, width == COLUMNS_ANY ? width : NAME_COLUMN);
	buffer_printf(writer->out, "%*s%s", STACK_INDENT, "", name.data);
	used = STACK_INDENT + columns_of(name.data);
	text_place_append(&place, frame, writer->paths,
			  width == COLUMNS_ANY ? width : width - STACK_INDENT - NAME_COLUMN - 2);
	if (place.data) {
		columns_pad(writer->out, used, STACK_INDENT + NAME_COLUMN);
		buffer_printf(writer->out, "  %s", place.data);
	}
	buffer_append_string(writer->out, "\n");
	buffer_free(&name);
	buffer_free(&place);
}

static size_t difference_text_frames(const struct text_writer *writer)
{
	if (writer->frames)
		return writer->frames;
	return writer->verbose ? RENDER_FRAMES_ALL : FRAMES_SHOWN;
}

static void difference_text_stack(const struct text_writer *writer,
				  const struct difference *difference, size_t index)
{
	const struct difference_site *site = &difference->sites[index];
	const struct profile_row *row = site->row;
	const size_t most = difference_text_frames(writer);
	struct buffer line = { 0 };
	struct cells cells;
	size_t i;

	difference_text_cells(difference, index, &cells);
	buffer_printf(&line, "#%s %s by %s", cells.text[0], cells.text[1],
		      row->function ? row->function : source_name(row->source));
	if (row->allocator)
		buffer_printf(&line, " of %s", row->allocator);
	if (row->program)
		buffer_printf(&line, " in %s", row->program);
	buffer_append_string(writer->out, "\n");
	columns_append_start(writer->out, line.data, writer->width);
	buffer_append_string(writer->out, "\n");
	for (i = 0; i < row->frame_count && i < most; i++)
		difference_text_frame(writer, row->frames[i]);
	if (i < row->frame_count)
		buffer_printf(writer->out, "%*s%zu more frame%s: --frames 0\n", STACK_INDENT, "",
			      row->frame_count - i, units_s(row->frame_count - i));
	buffer_free(&line);
}

static void difference_text_stacks(const struct text_writer *writer,
				   const struct difference *difference, size_t shown)
{
	const size_t most = writer->verbose ? shown : STACKS_SHOWN;
	size_t i, count = 0;

	for (i = 0; i < shown && count < most; i++) {
		const struct difference_site *site = &difference->sites[i];

		if (!site->row->frame_count ||
		    (!writer->verbose && !difference_text_is_of_three(difference) &&
		     site->word != DIFFERENCE_NEW && site->word != DIFFERENCE_GROWN))
			continue;
		difference_text_stack(writer, difference, i);
		count++;
	}
}

/* What may be wrong */

static void difference_text_remarks(const struct text_writer *writer,
				    const struct difference *difference)
{
	struct buffer line = { 0 };
	size_t i;

	buffer_append_string(writer->out, "\n");
	for (i = 0; i < difference->profile_count; i++) {
		if (!difference->profiles[i]->is_part)
			continue;
		buffer_printf(
			&line,
			"%s has its largest sites only: what others held is not known (\"?\"); "
			"write reports to compare with -n 0.",
			difference->profiles[i]->name);
		difference_text_paragraph(writer, &line);
	}
	if (difference->windows && difference->words[DIFFERENCE_UNKNOWN]) {
		buffer_printf(
			&line,
			"No census of both moments (\"?\"): %zu site%s, of which the growth is "
			"not known.",
			difference->words[DIFFERENCE_UNKNOWN],
			units_s(difference->words[DIFFERENCE_UNKNOWN]));
		difference_text_paragraph(writer, &line);
	}
	if (difference->rebuilt) {
		buffer_printf(&line,
			      "In files that were built anew: %zu site%s, known by the names of "
			      "functions.",
			      difference->rebuilt, units_s(difference->rebuilt));
		difference_text_paragraph(writer, &line);
	}
	buffer_free(&line);
}

static void difference_text_head(const struct text_writer *writer,
				 const struct difference *difference)
{
	if (difference->windows) {
		difference_text_opening_of_windows(writer, difference);
		return;
	}
	difference_text_opening(writer, difference);
	if (difference_text_is_of_three(difference))
		difference_text_retained(writer, difference);
	else
		difference_text_words(writer, difference);
}

void render_difference_text(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out)
{
	const struct render_options *base = &options->base;
	size_t width = base->columns ? base->columns : RENDER_COLUMNS;
	const struct text_writer writer = {
		.out = out,
		.color = base->color,
		.width = base->paths		    ? COLUMNS_ANY
			 : width < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN
						    : width,
		.frames = base->frames,
		.verbose = base->verbose,
		.paths = base->paths,
	};
	struct table_layout layout = { 0 };

	difference_text_head(&writer, difference);
	layout_find(&layout, difference, options->top);
	if (layout.rows)
		difference_text_table(&writer, difference, &layout);
	difference_text_stacks(&writer, difference, layout.shown);
	difference_text_remarks(&writer, difference);
}
