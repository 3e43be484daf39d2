/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See table.h. A column is as wide as its cells; where the screen is too narrow, columns are left out, those that matter least first. */
#include "top/table.h"

#include <stdio.h>
#include <string.h>

#include "verdict/verdict_clause.h"
#include "base/units.h"
#include "render/text_parts.h"
#include "render/text_place.h"
#include "top/trend.h"

#define CELL_MAX (UNITS_TEXT_MAX + 32)
#define WHERE_MIN 24 /* columns that the place of a row needs at least */
#define VIA_MIN 16
#define TREND_MIN 8

/* No column is ranked by it. */
#define NO_SORT ((enum report_sort) - 1)

struct table_row {
	const struct content *content;
	const struct report_site *site;
};

/* Cells */

static void cell_growth(const struct table_row *row, char *text)
{
	text_format_growth(row->site->growth.bytes, text);
	text_approximate(text, row->site->sampled && row->site->growth.bytes);
}

const char *table_format_rate(int64_t bytes, uint64_t ns, char *text)
{
	const __int128 rate = ns ? (__int128)bytes * 1000000000 / (__int128)ns : 0;

	if (!ns)
		return strcpy(text, "-");
	return text_format_growth(rate > INT64_MAX    ? INT64_MAX
				  : rate < -INT64_MAX ? -INT64_MAX
						      : (int64_t)rate,
				  text);
}

static void cell_rate(const struct table_row *row, char *text)
{
	if (row->content->report->options.estimates)
		text_budget_rate(&row->site->estimate, text);
	else
		table_format_rate(row->site->growth.bytes, row->content->growth_ns, text);
}

static void cell_inuse(const struct table_row *row, char *text)
{
	units_format_size(site_stats_inuse_bytes(&row->site->stats), text);
	text_approximate(text, row->site->sampled);
}

static void cell_blocks(const struct table_row *row, char *text)
{
	text_format_count(site_stats_inuse_objects(&row->site->stats), text);
	text_approximate(text, row->site->sampled);
}

static void cell_oldest(const struct table_row *row, char *text)
{
	units_format_time(row->site->stats.oldest_ns, text);
	text_approximate(text, row->content->report->options.estimates);
}

static void cell_verdict(const struct table_row *row, char *text)
{
	strcpy(text, verdict_clause_title(row->site->verdict.word));
}

static void cell_pid(const struct table_row *row, char *text)
{
	if (row->site->of_processes > 1)
		snprintf(text, CELL_MAX, "%zu of %zu", row->site->process_count,
			 row->site->of_processes);
	else
		snprintf(text, CELL_MAX, "%d", row->site->pid);
}

static void cell_rss(const struct table_row *row, char *text)
{
	const struct target_usage *usage = &row->site->target->usage;

	if (usage->known)
		units_format_size(usage->rss_bytes, text);
	else
		strcpy(text, "-");
}

static bool table_is_marked(const struct content *content, const struct view *view)
{
	(void)content;
	return view->marked;
}

static bool table_has_verdicts(const struct content *content, const struct view *view)
{
	(void)content;
	return view->has_verdicts;
}

static bool table_has_pids(const struct content *content, const struct view *view)
{
	return view->by_process || (content->report->target_count > 1 && !view->pid);
}

static bool table_is_of_processes(const struct content *content, const struct view *view)
{
	(void)content;
	return view->by_process;
}

struct column {
	const char *title;
	enum report_sort sort; /* by which it ranks */
	size_t least; /* columns, so that figures which change do not move the others */
	/* Write the cell into `text`, of CELL_MAX bytes. NULL = the trend. */
	void (*write)(const struct table_row *row, char *text);
	bool (*wanted)(const struct content *content, const struct view *view); /* NULL = always */
	unsigned int keep; /* the column with the least is left out first */
};

static const struct column columns[] = {
	{ "PID", NO_SORT, 7, cell_pid, table_has_pids, 4 },
	{ "RSS", NO_SORT, 9, cell_rss, table_is_of_processes, 3 },
	{ "SINCE MARK", SORT_GROWTH, 10, cell_growth, table_is_marked, 9 },
	{ "GROWTH/s", SORT_GROWTH, 10, cell_rate, NULL, 7 },
	{ "IN USE", SORT_INUSE, 10, cell_inuse, NULL, 8 },
	{ "BLOCKS", SORT_INUSE_OBJECTS, 7, cell_blocks, NULL, 2 },
	{ "OLDEST", SORT_AGE, 6, cell_oldest, NULL, 1 },
	{ "TREND", NO_SORT, TREND_MIN, NULL, NULL, 5 },
	{ "VERDICT", SORT_LEAK, 7, cell_verdict, table_has_verdicts, 6 },
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* Widths; 0 = the column is left out. */
struct layout {
	size_t figures[COLUMN_COUNT];
	size_t where, via;
};

/* Layout */

static void layout_add_row(struct layout *layout, const struct table_row *row)
{
	char text[CELL_MAX];
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++) {
		if (!layout->figures[i] || !columns[i].write)
			continue;
		columns[i].write(row, text);
		if (strlen(text) > layout->figures[i])
			layout->figures[i] = strlen(text);
	}
}

static size_t layout_width(const struct layout *layout)
{
	size_t sum = 0, i;

	for (i = 0; i < COLUMN_COUNT; i++)
		sum += layout->figures[i] ? layout->figures[i] + 1 : 0;
	return sum;
}

static bool layout_leave_out(struct layout *layout)
{
	size_t least = COLUMN_COUNT, i;

	for (i = 0; i < COLUMN_COUNT; i++)
		if (layout->figures[i] &&
		    (least == COLUMN_COUNT || columns[i].keep < columns[least].keep))
			least = i;
	if (least == COLUMN_COUNT)
		return false;
	layout->figures[least] = 0;
	return true;
}

/* The place has what is left; on a wide screen the trend is longer, and what allocated has a column of its own. */
static void layout_share(struct layout *layout, size_t width, bool by_process)
{
	size_t used = layout_width(layout), i;

	while (used + WHERE_MIN > width && layout_leave_out(layout))
		used = layout_width(layout);
	for (i = 0; i < COLUMN_COUNT; i++)
		if (layout->figures[i] && !columns[i].write && width > used + 2 * WHERE_MIN)
			layout->figures[i] += (width - used - 2 * WHERE_MIN) / 4;
	used = layout_width(layout);
	layout->where = width > used ? width - used : 0;
	if (!by_process && layout->where >= WHERE_MIN + VIA_MIN + 1) {
		layout->via = layout->where * 2 / 5;
		layout->where -= layout->via + 1;
	}
}

static struct layout layout_make(const struct content *content, const struct view *view,
				 size_t width, size_t first, size_t last)
{
	struct layout layout = { { 0 } };
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++)
		if (!columns[i].wanted || columns[i].wanted(content, view))
			layout.figures[i] = columns[i].least;
	for (i = first; i < last; i++) {
		const struct table_row row = { content,
					       &content->report->sites[content->rows->sites[i]] };

		layout_add_row(&layout, &row);
	}
	layout_share(&layout, width, view->by_process);
	return layout;
}

/* Lines */

enum screen_style table_style_of(enum verdict_word word)
{
	switch (word) {
	case VERDICT_LEAK:
		return SCREEN_BAD;
	case VERDICT_GROWING:
	case VERDICT_FILLING:
		return SCREEN_WARNING;
	case VERDICT_STEADY:
	case VERDICT_CACHE:
	case VERDICT_WARM_UP:
	case VERDICT_TEMPORARY:
		return SCREEN_GOOD;
	default:
		return SCREEN_QUIET;
	}
}

static void table_set(struct screen *screen, enum screen_style style, bool is_chosen)
{
	screen_set(screen, is_chosen ? SCREEN_CHOSEN : style);
}

static void table_titles(struct screen *screen, const struct layout *layout,
			 const struct view *view)
{
	size_t i;

	screen_set(screen, SCREEN_TITLE);
	for (i = 0; i < COLUMN_COUNT; i++) {
		if (!layout->figures[i])
			continue;
		screen_set(screen, columns[i].sort == view->sort ? SCREEN_SORTED : SCREEN_TITLE);
		/* Figures end in a line, words begin in one. */
		screen_printf(screen,
			      columns[i].write && columns[i].write != cell_verdict ? "%*s" : "%-*s",
			      (int)layout->figures[i], columns[i].title);
		screen_set(screen, SCREEN_TITLE);
		screen_append(screen, " ");
	}
	screen_append(screen, view->by_process ? "PROCESS" : "WHERE");
	if (layout->via) {
		screen_pad(screen, layout_width(layout) + layout->where + 1);
		screen_append(screen, "VIA");
	}
	screen_pad(screen, screen->columns);
	screen_end_line(screen);
}

static void table_trend(struct screen *screen, const struct table_row *row, size_t width)
{
	struct history_point points[HISTORY_POINTS] = { 0 };
	struct buffer text = { 0 };

	history_add_row(row->content->history, row->site->origin, points);
	trend_append(&text, points, row->content->history->count, width, screen->ascii);
	screen_append(screen, text.data);
	buffer_free(&text);
}

static enum screen_style table_cell_style(const struct column *column,
					  const struct report_site *site)
{
	if (column->write == cell_verdict)
		return table_style_of(site->verdict.word);
	if (column->write == cell_inuse || column->write == cell_growth)
		return SCREEN_STRONG;
	return SCREEN_PLAIN;
}

static void table_figures(struct screen *screen, const struct layout *layout,
			  const struct table_row *row, bool is_chosen)
{
	char text[CELL_MAX];
	size_t i;

	for (i = 0; i < COLUMN_COUNT; i++) {
		if (!layout->figures[i])
			continue;
		table_set(screen, table_cell_style(&columns[i], row->site), is_chosen);
		if (!columns[i].write) {
			table_set(screen, table_style_of(row->site->verdict.word), is_chosen);
			table_trend(screen, row, layout->figures[i]);
		} else {
			columns[i].write(row, text);
			screen_printf(screen, columns[i].write == cell_verdict ? "%-*s" : "%*s",
				      (int)layout->figures[i], text);
		}
		table_set(screen, SCREEN_PLAIN, is_chosen);
		screen_append(screen, " ");
	}
}

/* "puma (ended)" */
static void table_process(struct screen *screen, const struct report_site *site)
{
	columns_append_start(&screen->line.text, site->target->comm, COMM_MAX);
	if (site->ended || site->target->exited)
		screen_append(screen, " (ended)");
}

/* The line, its function as far as there is room, and what allocated. */
static void table_where(struct screen *screen, const struct layout *layout,
			const struct report_site *site, bool is_chosen)
{
	const size_t begin = screen_column(screen);
	struct buffer text = { 0 };
	size_t used;

	table_set(screen, SCREEN_STRONG, is_chosen);
	text_place_append_row(&screen->line.text, site, layout->where);
	table_set(screen, SCREEN_PLAIN, is_chosen);
	used = screen_column(screen) - begin;
	if (used + 8 < layout->where) {
		text_place_append_more(&text, site, layout->where - used - 1);
		screen_printf(screen, " %s", text.data ? text.data : "");
	}
	buffer_free(&text);
	if (!layout->via)
		return;
	screen_pad(screen, begin + layout->where + 1);
	table_set(screen, SCREEN_QUIET, is_chosen);
	text_place_append_via(&screen->line.text, site, layout->via);
}

static void table_row(struct screen *screen, const struct layout *layout,
		      const struct content *content, const struct view *view, size_t place)
{
	struct report_site site = report_open_site(content->report, content->rows->sites[place]);
	const struct table_row row = { content, &site };
	const bool is_chosen = place == view->chosen;

	table_figures(screen, layout, &row, is_chosen);
	if (view->by_process)
		table_process(screen, &site);
	else
		table_where(screen, layout, &site, is_chosen);
	if (is_chosen)
		screen_pad(screen, screen->columns);
	screen_end_line(screen);
	report_close_site(&site);
}

/* A table without rows needs a reason. */
static void table_nothing(struct screen *screen, const struct content *content,
			  const struct view *view)
{
	screen_set(screen, SCREEN_QUIET);
	if (view->filter[0]) {
		screen_append(screen, " no row has \"");
		columns_append_start(&screen->line.text, view->filter, COLUMNS_ANY);
		screen_append(screen, "\" in it: Esc shows all");
	} else if (view->marked) {
		screen_append(screen, " nothing has grown since the mark: Esc or u shows all");
	} else if (!content->report->recorded.alloc_objects) {
		screen_append(screen, " nothing is in use: no allocation was recorded yet");
	} else {
		screen_append(screen, " nothing is in use: all recorded blocks were freed");
	}
	screen_end_line(screen);
}

void table_draw(struct screen *screen, const struct content *content, const struct view *view,
		size_t room)
{
	const size_t end = content->rows->count - view->first < room ? content->rows->count
								     : view->first + room;
	const struct layout layout = layout_make(content, view, screen->columns, view->first, end);
	size_t i;

	table_titles(screen, &layout, view);
	for (i = view->first; i < end; i++)
		table_row(screen, &layout, content, view, i);
	if (!content->rows->count && room)
		table_nothing(screen, content, view);
}
