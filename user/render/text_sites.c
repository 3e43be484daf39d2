/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of the text format: a row a site, then what is not listed, and the totals. A column is as wide as its cells, and the
 * last two share what is left of the width. Where that is too little, columns are left out, those that matter least first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict/verdict_clause.h"
#include "base/units.h"
#include "render/formats.h"
#include "render/text_parts.h"
#include "render/text_place.h"

#define GAP 2
/* So many columns the last two of the table need at least. */
#define WHERE_MIN 24
#define VIA_MIN 9
/* Less than this is no use for a function beside its line. */
#define MORE_MIN 8

/* What a row of the table is made from. */
struct text_row {
	const struct report *report;
	const struct report_site *site; /* NULL = of several */
	const struct site_stats *stats;
	struct growth growth;
	bool sampled;
	bool ended;
	bool inuse_only; /* there are no other figures */
};

bool text_shows_site(const struct report *report, const struct report_site *site)
{
	return !report_sort_is_inuse(report->options.sort) || site_stats_hold(&site->stats);
}

/* Cells */

static void cell_rank(const struct text_row *row, char *text)
{
	if (row->site)
		snprintf(text, UNITS_TEXT_MAX, "%zu", row->site->rank);
}

static void cell_inuse(const struct text_row *row, char *text)
{
	units_format_size(site_stats_inuse_bytes(row->stats), text);
	text_approximate(text, row->sampled);
}

static void cell_growth(const struct text_row *row, char *text)
{
	if (row->ended)
		strcpy(text, "ended");
	else if (!row->growth.known)
		strcpy(text, "-");
	else if (row->growth.appeared && row->site && site_stats_hold(row->stats))
		strcpy(text, "new");
	else {
		text_format_growth(row->growth.bytes, text);
		text_approximate(text, row->growth.bytes && row->report->options.estimates);
	}
}

static void cell_blocks(const struct text_row *row, char *text)
{
	text_format_count(site_stats_inuse_objects(row->stats), text);
	text_approximate(text, row->sampled);
}

static void cell_allocated(const struct text_row *row, char *text)
{
	if (row->report->options.sort == SORT_ALLOC_OBJECTS)
		text_format_count(row->stats->alloc_objects, text);
	else
		units_format_size(row->stats->alloc_bytes, text);
	text_approximate(text, row->sampled);
}

/* What of the allocated bytes is freed: never "100%" or "0%" of what is not. */
static void cell_freed(const struct text_row *row, char *text)
{
	uint64_t part = row->stats->free_bytes, whole = row->stats->alloc_bytes;
	unsigned int percent;

	if (!whole || part > whole) {
		strcpy(text, "-");
		return;
	}
	percent = (unsigned int)((unsigned __int128)part * 100 / whole);
	snprintf(text, UNITS_TEXT_MAX, "%s%u%%", part && !percent ? "<" : "",
		 part && !percent ? 1 : percent);
	text_approximate(text, row->report->options.estimates);
}

static void cell_oldest(const struct text_row *row, char *text)
{
	if (!site_stats_hold(row->stats)) {
		strcpy(text, "-");
		return;
	}
	units_format_time(row->stats->oldest_ns, text);
	text_approximate(text, row->report->options.estimates);
}

static void cell_rate(const struct text_row *row, char *text)
{
	if (row->site)
		text_budget_rate(&row->site->estimate, text);
}

static void cell_unchanged(const struct text_row *row, char *text)
{
	if (row->site)
		text_format_count(row->site->estimate.unchanged, text);
}

static void cell_verdict(const struct text_row *row, char *text)
{
	if (row->site)
		strcpy(text, text_budget_verdict(&row->site->estimate));
}

static void cell_word(const struct text_row *row, char *text)
{
	if (row->site)
		strcpy(text, verdict_clause_title(row->site->verdict.word));
}

static void cell_collections(const struct text_row *row, char *text)
{
	if (row->stats->gcs_known && site_stats_hold(row->stats))
		text_format_count(row->stats->gcs, text);
	else
		strcpy(text, "-");
}

static void cell_resident(const struct text_row *row, char *text)
{
	if (row->site && row->site->resident_known)
		units_format_size(row->stats->resident_bytes, text);
	else if (row->site)
		strcpy(text, "-");
}

/* "812", or of a line in processes of one program "2 of 4". */
static void cell_process(const struct text_row *row, char *text)
{
	const struct report_site *site = row->site;

	if (!site)
		return;
	if (site->of_processes > 1)
		snprintf(text, UNITS_TEXT_MAX, "%zu of %zu", site->process_count,
			 site->of_workers ? site->of_workers : site->of_processes);
	else
		snprintf(text, UNITS_TEXT_MAX, "%d", site->pid);
}

static bool column_is_of_allocated(const struct report *report)
{
	return !report_sort_is_inuse(report->options.sort);
}

static bool column_is_of_budget(const struct report *report)
{
	return report->options.estimates;
}

static bool column_is_of_verdicts(const struct report *report)
{
	return report->options.sort == SORT_LEAK && !report->options.estimates;
}

static bool column_is_of_growth(const struct report *report)
{
	return !report->options.estimates || report->options.estimates->since_known;
}

static bool column_is_of_mappings(const struct report *report)
{
	size_t i;

	for (i = 0; i < report->site_count; i++)
		if (report->sites[i].resident_known)
			return true;
	return false;
}

static bool column_is_of_collectors(const struct report *report)
{
	return report->totals.gcs_known;
}

static bool column_is_of_processes(const struct report *report)
{
	return report->target_count > 1;
}

/* A column of figures. */
struct column {
	const char *title;
	/* Write the cell of a row into `text`, of UNITS_TEXT_MAX + 1 bytes, which is empty. */
	void (*write)(const struct text_row *row, char *text);
	bool (*wanted)(const struct report *report); /* NULL = always */
	unsigned int keep; /* the column with the least is left out first */
};

static const struct column columns[] = {
	{ "#", cell_rank, NULL, 9 },
	{ "IN USE", cell_inuse, NULL, 9 },
	{ "GROWTH", cell_growth, column_is_of_growth, 6 },
	{ "PER SECOND", cell_rate, column_is_of_budget, 8 },
	{ "LEAK", cell_verdict, column_is_of_budget, 9 },
	{ "VERDICT", cell_word, column_is_of_verdicts, 8 },
	{ "SEEN", cell_unchanged, column_is_of_budget, 5 },
	{ "RESIDENT", cell_resident, column_is_of_mappings, 1 },
	{ "BLOCKS", cell_blocks, NULL, 3 },
	{ "ALLOCATED", cell_allocated, column_is_of_allocated, 8 },
	{ "FREED", cell_freed, NULL, 2 },
	{ "OLDEST", cell_oldest, NULL, 4 },
	{ "GCS", cell_collections, column_is_of_collectors, 5 },
	{ "PID", cell_process, column_is_of_processes, 5 },
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* The widths of a table; 0 = the column is left out. */
struct layout {
	size_t figures[COLUMN_COUNT];
	/* Of the widest cell: the place of a row, its function, and what allocated. */
	size_t place, more, via;
	size_t least; /* of the places, with no more of their paths than the file's name */
	bool is_first; /* nothing has grown yet: its column can be spared before all others */
	/* And what they get. */
	size_t where_width, via_width;
};

static struct text_row text_row_of(const struct report *report, const struct report_site *site)
{
	return (struct text_row){ .report = report,
				  .site = site,
				  .stats = &site->stats,
				  .growth = site->growth,
				  .sampled = site->sampled,
				  .ended = site->ended };
}

static struct text_row text_row_of_totals(const struct report *report)
{
	return (struct text_row){ .report = report,
				  .stats = &report->totals,
				  .growth = report->growth,
				  .sampled = report->sampled.alloc_objects };
}

/* The cell of a column that the row may not have. */
static size_t text_cell(const struct text_row *row, size_t column, char *text)
{
	*text = '\0';
	if (!row->inuse_only || columns[column].write == cell_inuse)
		columns[column].write(row, text);
	return strlen(text);
}

/* How many sites are not listed, and what they hold. */
static size_t text_count_rest(const struct report *report, uint64_t *ret_bytes)
{
	uint64_t bytes = site_stats_inuse_bytes(&report->totals);
	uint64_t left_out = site_stats_inuse_bytes(&report->left_out);
	size_t sites = report->sites_in_use, i;

	bytes -= left_out < bytes ? left_out : bytes;
	for (i = 0; i < report->site_count; i++) {
		uint64_t shown = site_stats_inuse_bytes(&report->sites[i].stats);

		if (report->sites[i].ended)
			continue;
		bytes -= shown < bytes ? shown : bytes;
		sites -= site_stats_hold(&report->sites[i].stats);
	}
	*ret_bytes = bytes;
	return sites;
}

/* Layout */

static void layout_grow(size_t *width, size_t needed)
{
	if (needed > *width)
		*width = needed;
}

static void layout_add_row(struct layout *layout, const struct text_row *row)
{
	char text[UNITS_TEXT_MAX + 1];
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++)
		if (layout->figures[i])
			layout_grow(&layout->figures[i], text_cell(row, i, text));
}

static void layout_add_bytes(struct layout *layout, uint64_t bytes)
{
	const struct site_stats stats = { .alloc_bytes = bytes };
	const struct text_row row = { .stats = &stats, .inuse_only = true };

	layout_add_row(layout, &row);
}

/* The rows that are of no site. */
static void layout_add_sums(struct layout *layout, const struct report *report)
{
	const struct text_row totals = text_row_of_totals(report);
	uint64_t bytes;

	layout_add_row(layout, &totals);
	if (text_count_rest(report, &bytes))
		layout_add_bytes(layout, bytes);
	if (report->sites_left_out)
		layout_add_bytes(layout, site_stats_inuse_bytes(&report->left_out));
	if (site_stats_hold(&report->ended))
		layout_add_bytes(layout, site_stats_inuse_bytes(&report->ended));
}

static void layout_add_names(struct layout *layout, const struct report_site *site)
{
	struct buffer text = { 0 };

	text_place_append_row(&text, site, COLUMNS_ANY);
	layout_grow(&layout->place, columns_of(text.data));
	layout_grow(&layout->least, text_place_least(site));
	buffer_clear(&text);
	text_place_append_more(&text, site, COLUMNS_ANY);
	layout_grow(&layout->more, text.data ? columns_of(text.data) : 0);
	buffer_clear(&text);
	text_place_append_via(&text, site, COLUMNS_ANY);
	layout_grow(&layout->via, columns_of(text.data));
	buffer_free(&text);
}

static size_t layout_figures_width(const struct layout *layout)
{
	size_t sum = 0, i;

	for (i = 0; i < COLUMN_COUNT; i++)
		sum += layout->figures[i] ? layout->figures[i] + GAP : 0;
	return sum;
}

static unsigned int layout_keep(const struct layout *layout, size_t column)
{
	return layout->is_first && columns[column].write == cell_growth ? 0 : columns[column].keep;
}

/* Leave out the column that matters least. False if there is none but those that always matter. */
static bool layout_leave_out(struct layout *layout)
{
	size_t least = COLUMN_COUNT, i;

	for (i = 0; i < COLUMN_COUNT; i++)
		if (layout->figures[i] && columns[i].keep < 9 &&
		    (least == COLUMN_COUNT || layout_keep(layout, i) < layout_keep(layout, least)))
			least = i;
	if (least == COLUMN_COUNT)
		return false;
	layout->figures[least] = 0;
	return true;
}

static size_t layout_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Leave out columns until the last two have room for what they need at least. Returns what they have, without their gap. */
static size_t layout_make_room(struct layout *layout, size_t width)
{
	size_t least =
		layout_min(layout->least, WHERE_MIN) + GAP + layout_min(layout->via, VIA_MIN);
	size_t used = layout_figures_width(layout);

	while (used + least > width && layout_leave_out(layout))
		used = layout_figures_width(layout);
	return width > used + GAP ? width - used - GAP : 0;
}

/*
 * Share the width: names of files come first, then what allocated, then the rest of their paths. The function has what
 * is left.
 */
static void layout_share(struct layout *layout, size_t width)
{
	size_t needed = layout->place + (layout->more ? 1 + layout->more : 0);
	size_t room;

	if (width == COLUMNS_ANY) {
		layout->where_width = needed;
		layout->via_width = layout->via;
		return;
	}
	room = layout_make_room(layout, width);
	layout->via_width = layout_min(layout->via, VIA_MIN);
	if (layout->least + layout->via_width < room)
		layout->via_width = layout_min(layout->via, room - layout->least);
	layout->via_width = layout_min(layout->via_width, room);
	layout->where_width = layout_min(needed, room - layout->via_width);
}

static struct layout layout_make(const struct text_writer *writer, const struct report *report)
{
	struct layout layout = { .is_first = !report->growth.known };
	struct report_site site;
	struct text_row row;
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++)
		if (!columns[i].wanted || columns[i].wanted(report))
			layout.figures[i] = strlen(columns[i].title);
	layout.place = layout.least = strlen("WHERE");
	layout.via = strlen("VIA");
	for (i = 0; i < report->site_count; i++) {
		if (!text_shows_site(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		row = text_row_of(report, &site);
		layout_add_row(&layout, &row);
		layout_add_names(&layout, &site);
		report_close_site(&site);
	}
	layout_add_sums(&layout, report);
	layout_share(&layout, writer->width);
	return layout;
}

/* Rows */

static void text_end_row(const struct text_writer *writer)
{
	text_style_set(writer, STYLE_PLAIN);
	while (writer->out->length && writer->out->data[writer->out->length - 1] == ' ')
		writer->out->data[--writer->out->length] = '\0';
	buffer_append_string(writer->out, "\n");
}

static void text_figures(const struct text_writer *writer, const struct layout *layout,
			 const struct text_row *row)
{
	char text[UNITS_TEXT_MAX + 1];
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++) {
		if (!layout->figures[i])
			continue;
		columns_pad(writer->out, text_cell(row, i, text), layout->figures[i]);
		buffer_append_string(writer->out, text);
		columns_pad(writer->out, 0, GAP);
	}
}

static void text_titles(const struct text_writer *writer, const struct layout *layout)
{
	size_t i;

	text_style_set(writer, STYLE_QUIET);
	for (i = 0; i < COLUMN_COUNT; i++)
		if (layout->figures[i]) {
			columns_pad(writer->out, strlen(columns[i].title), layout->figures[i]);
			buffer_printf(writer->out, "%s%*s", columns[i].title, GAP, "");
		}
	buffer_append_string(writer->out, "WHERE");
	columns_pad(writer->out, strlen("WHERE"), layout->where_width + GAP);
	buffer_append_string(writer->out, "VIA");
	text_end_row(writer);
}

/* The line, which a reader is to see first, and its function as far as there is room. */
static void text_where(const struct text_writer *writer, const struct layout *layout,
		       const struct report_site *site)
{
	struct buffer place = { 0 };
	size_t used, room;

	text_place_append_row(&place, site, layout_min(layout->place, layout->where_width));
	used = columns_of(place.data);
	text_style_set(writer, STYLE_STRONG);
	buffer_append_string(writer->out, place.data);
	text_style_set(writer, STYLE_PLAIN);
	room = layout->where_width > used ? layout->where_width - used : 0;
	if (room > MORE_MIN) {
		buffer_clear(&place);
		text_place_append_more(&place, site, room - 1);
		buffer_printf(writer->out, " %s", place.data ? place.data : "");
		used += 1 + (place.data ? columns_of(place.data) : 0);
	}
	columns_pad(writer->out, used, layout->where_width + GAP);
	buffer_free(&place);
}

static void text_site(const struct text_writer *writer, const struct layout *layout,
		      const struct report *report, const struct report_site *site)
{
	const struct text_row row = text_row_of(report, site);

	text_figures(writer, layout, &row);
	text_where(writer, layout, site);
	text_style_set(writer, STYLE_QUIET);
	text_place_append_via(writer->out, site, layout->via_width);
	text_end_row(writer);
}

/* A row that is of no site: `label` stands in the place of its line. */
static void text_sum(const struct text_writer *writer, const struct layout *layout,
		     const struct text_row *row, const char *label)
{
	size_t used = layout_figures_width(layout);

	text_figures(writer, layout, row);
	columns_append_start(writer->out, label, writer->width > used ? writer->width - used : 0);
	text_end_row(writer);
}

static void text_sum_bytes(const struct text_writer *writer, const struct layout *layout,
			   uint64_t bytes, const char *label)
{
	const struct site_stats stats = { .alloc_bytes = bytes };
	const struct text_row row = { .stats = &stats, .inuse_only = true };

	text_sum(writer, layout, &row, label);
}

/* Print what the sites hold that --only leaves out. */
static void text_left_out(const struct text_writer *writer, const struct layout *layout,
			  const struct report *report)
{
	char count[UNITS_TEXT_MAX], label[96];

	if (!report->sites_left_out)
		return;
	snprintf(label, sizeof(label), "%s site%s left out by --only",
		 units_format_count(report->sites_left_out, count),
		 units_s(report->sites_left_out));
	text_sum_bytes(writer, layout, site_stats_inuse_bytes(&report->left_out), label);
}

/* Print what the sites hold that are not listed. */
static void text_rest(const struct text_writer *writer, const struct layout *layout,
		      const struct report *report)
{
	char count[UNITS_TEXT_MAX], label[96];
	uint64_t bytes;
	size_t sites = text_count_rest(report, &bytes);

	if (!sites)
		return;
	snprintf(label, sizeof(label), "%s more site%s (-n 0 shows all)",
		 units_format_count(sites, count), units_s(sites));
	text_sum_bytes(writer, layout, bytes, label);
}

static void text_totals(const struct text_writer *writer, const struct layout *layout,
			const struct report *report)
{
	struct text_row row = text_row_of_totals(report);

	text_style_set(writer, STYLE_STRONG);
	text_sum(writer, layout, &row, "total");
	row = (struct text_row){ .report = report,
				 .stats = &report->ended,
				 .sampled = report->ended_sampled,
				 .ended = true };
	if (site_stats_hold(&report->ended))
		text_sum(writer, layout, &row, "ended programs");
}

/* A person must not take an estimate for a count. */
static void text_samples(const struct text_writer *writer, const struct report *report)
{
	char count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (!report->recorded.samples)
		return;
	if (report->options.estimates)
		buffer_printf(&line,
			      "~ estimated from %s block%s that tracing in windows has seen, and "
			      "that are unchanged; (..) is the interval of 95 %%",
			      units_format_count(report->recorded.samples, count),
			      units_s(report->recorded.samples));
	else
		buffer_printf(&line, "~ estimated from %s sample%s published by the program",
			      units_format_count(report->recorded.samples, count),
			      units_s(report->recorded.samples));
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

void text_sites(const struct text_writer *writer, const struct report *report,
		const struct render_options *options)
{
	const struct layout layout = layout_make(writer, report);
	struct report_site site;
	size_t i;

	text_titles(writer, &layout);
	for (i = 0; i < report->site_count && render_drain(options, writer->out); i++) {
		if (!text_shows_site(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		text_site(writer, &layout, report, &site);
		report_close_site(&site);
	}
	text_left_out(writer, &layout, report);
	text_rest(writer, &layout, report);
	text_totals(writer, &layout, report);
	text_samples(writer, report);
}
