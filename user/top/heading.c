/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heading.h. */
#include "top/heading.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "verdict/verdict_clause.h"
#include "base/units.h"
#include "model/loss.h"
#include "render/text_parts.h"
#include "top/table.h"
#include "top/trend.h"

#define LABEL_COLUMNS 8
#define NAMES_SHOWN 4

/* What ends at the right edge, if it has room behind what there is. */
static void heading_append_right(struct screen *screen, const char *text)
{
	const size_t width = screen_width(text), used = screen_column(screen);

	if (used + 2 + width > screen->columns)
		return;
	screen_pad(screen, screen->columns - width);
	screen_append(screen, text);
}

static void heading_label(struct screen *screen, const char *label)
{
	screen_set(screen, SCREEN_QUIET);
	screen_printf(screen, "%-*s", LABEL_COLUMNS, label);
	screen_set(screen, SCREEN_PLAIN);
}

/* "puma (4711)", "3 processes: puma, puma, sidekiq" */
static void heading_append_targets(struct screen *screen, const struct report *report)
{
	const size_t count = report->target_count;
	size_t i;

	if (count == 1) {
		columns_append_start(&screen->line.text, report->targets[0]->comm, COMM_MAX);
		screen_printf(screen, " (%d)", report->targets[0]->pid);
		return;
	}
	screen_printf(screen, "%zu processes", count);
	for (i = 0; i < count && i < NAMES_SHOWN; i++) {
		screen_append(screen, i ? ", " : ": ");
		columns_append_start(&screen->line.text, report->targets[i]->comm, COMM_MAX);
	}
	if (count > NAMES_SHOWN)
		screen_append(screen, ", ...");
}

/* "shop.rb (4711), traced for 1m23s                         14:03:22" */
static void heading_targets(struct screen *screen, const struct content *content)
{
	const struct report *report = content->report;
	char time[UNITS_TEXT_MAX], clock[16] = "";
	struct tm fields;
	time_t wall = (time_t)report->wall_time;

	screen_set(screen, SCREEN_STRONG);
	heading_append_targets(screen, report);
	screen_set(screen, SCREEN_PLAIN);
	screen_printf(screen, ", traced for %s", units_format_time(report->duration_ns, time));
	if (localtime_r(&wall, &fields))
		strftime(clock, sizeof(clock), "%H:%M:%S", &fields);
	heading_append_right(screen, clock);
	screen_end_line(screen);
}

static uint64_t heading_rss(const struct report *report)
{
	uint64_t rss = 0;
	size_t i;

	for (i = 0; i < report->target_count; i++)
		if (report->targets[i]->usage.known)
			rss += report->targets[i]->usage.rss_bytes;
	return rss;
}

/* "[||||||||         12.4 MiB/64.0 MiB]": what is in use, of RSS. */
static void heading_bar(struct screen *screen, uint64_t part, uint64_t whole, const char *text,
			size_t width)
{
	const size_t length = strlen(text), inside = width > 2 ? width - 2 : 0;
	const size_t filled = part < whole ? (size_t)((unsigned __int128)inside * part / whole)
					   : inside;
	size_t i;

	screen_set(screen, SCREEN_STRONG);
	screen_append(screen, "[");
	screen_set(screen, SCREEN_METER);
	for (i = 0; i < inside; i++) {
		const bool of_text = i + length >= inside;
		char cell[2] = { ' ', '\0' };

		if (i == filled)
			screen_set(screen, SCREEN_PLAIN);
		if (of_text)
			cell[0] = text[i + length - inside];
		else if (i < filled)
			cell[0] = '|';
		screen_append(screen, cell);
	}
	screen_set(screen, SCREEN_STRONG);
	screen_append(screen, "]");
	screen_set(screen, SCREEN_PLAIN);
}

static void heading_memory(struct screen *screen, const struct content *content,
			   const struct view *view)
{
	const struct report *report = content->report;
	const uint64_t inuse = site_stats_inuse_bytes(&report->totals), rss = heading_rss(report);
	char size[UNITS_TEXT_MAX + 1], whole[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX + 1];
	char text[3 * UNITS_TEXT_MAX];

	text_approximate((char *)units_format_size(inuse, size), site_stats_hold(&report->sampled));
	snprintf(text, sizeof(text), rss ? "%s of %s RSS" : "%s", size,
		 units_format_size(rss, whole));
	heading_label(screen, "In use");
	heading_bar(screen, inuse, rss ? rss : inuse, text, screen->columns / 2);
	text_approximate(
		(char *)text_format_count(site_stats_inuse_objects(&report->totals), count),
		site_stats_hold(&report->sampled));
	screen_printf(screen, "  %s block%s", count,
		      units_s(site_stats_inuse_objects(&report->totals)));
	if (!view->by_process)
		screen_printf(screen, " at %zu site%s", report->sites_in_use,
			      units_s(report->sites_in_use));
	screen_end_line(screen);
}

/* "+12.4 KiB/s", of --budget "~12 (11-13) KiB/s" */
static void heading_append_rate(struct screen *screen, const struct content *content)
{
	const struct report *report = content->report;
	char text[UNITS_TEXT_MAX + 1];
	const struct budget_estimate all = { .known = true,
					     .rate = report->options.estimates
							     ? report->options.estimates->growth
							     : (struct estimate){ 0 } };

	if (report->options.estimates)
		text_budget_rate(&all, text);
	else
		table_format_rate(report->growth.bytes, content->growth_ns, text);
	screen_set(screen, SCREEN_STRONG);
	screen_printf(screen, "%s%s", text, strcmp(text, "-") ? "/s" : "");
	screen_set(screen, SCREEN_PLAIN);
}

static void heading_growth(struct screen *screen, const struct content *content,
			   const struct view *view)
{
	struct history_point points[HISTORY_POINTS] = { 0 };
	char time[UNITS_TEXT_MAX];
	struct buffer trend = { 0 };

	heading_label(screen, "Growth");
	history_add_all(content->history, points);
	trend_append(&trend, points, content->history->count, screen->columns / 2, screen->ascii);
	screen_set(screen, SCREEN_METER);
	screen_append(screen, trend.data ? trend.data : "");
	buffer_free(&trend);
	screen_append(screen, "  ");
	heading_append_rate(screen, content);
	if (content->growth_ns && !content->report->options.estimates)
		screen_printf(screen, view->marked ? " since the mark" : " in %s",
			      units_format_time(content->growth_ns, time));
	screen_end_line(screen);
}

/* A sentence, in as many lines as it takes. */
static void heading_append_wrapped(struct screen *screen, const char *text, enum screen_style style)
{
	struct buffer lines = { 0 };
	char *line, *rest;

	columns_wrap(&lines, text,
		     screen->columns > 2 * LABEL_COLUMNS ? screen->columns - LABEL_COLUMNS
							 : COLUMNS_ANY,
		     0);
	for (line = strtok_r(lines.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		screen_pad(screen, LABEL_COLUMNS);
		screen_set(screen, style);
		screen_append(screen, line);
		screen_end_line(screen);
	}
	buffer_free(&lines);
}

static void heading_verdict(struct screen *screen, const struct content *content)
{
	const struct report *report = content->report;
	struct buffer line = { 0 };

	heading_label(screen, "Verdict");
	if (report->verdict.word == VERDICT_NONE) {
		screen_append(screen,
			      report->options.light ? "not known: --light sees no frees" : "-");
		screen_end_line(screen);
		return;
	}
	if (report->leaks)
		buffer_printf(&line, "%zu row%s: ", report->leaks, units_s(report->leaks));
	buffer_printf(&line, "%s: ", verdict_clause_title(report->verdict.word));
	verdict_clause_append(&report->verdict, &line);
	heading_append_wrapped(screen, line.data, table_style_of(report->verdict.word));
	buffer_free(&line);
}

/* How many kinds of losses make a figure too small. */
static size_t heading_count_defects(const struct report *report)
{
	size_t count = 0;
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		count += report->loss[loss] && loss_is_defect((enum loss)loss);
	return count;
}

static void heading_append_badge(struct screen *screen, enum screen_style style, const char *text)
{
	screen_append(screen, " ");
	screen_set(screen, style);
	columns_append_start(&screen->line.text, text, COLUMNS_ANY);
	screen_set(screen, SCREEN_PLAIN);
	screen_append(screen, " ");
}

/* What narrows the rows, and which of them, or of their figures, are missing. */
static void heading_badges(struct screen *screen, const struct content *content,
			   const struct view *view)
{
	const struct report *report = content->report;
	const size_t defects = heading_count_defects(report);
	char text[VIEW_FILTER_MAX + 64], time[UNITS_TEXT_MAX];

	screen_set(screen, SCREEN_PLAIN);
	if (view->frozen)
		heading_append_badge(screen, SCREEN_SORTED, "[frozen]");
	if (view->marked) {
		snprintf(text, sizeof(text), "[grown since the mark, %s ago]",
			 units_format_time(content->growth_ns, time));
		heading_append_badge(screen, SCREEN_SORTED, text);
	}
	if (view->pid) {
		snprintf(text, sizeof(text), "[process %d]", view->pid);
		heading_append_badge(screen, SCREEN_SORTED, text);
	}
	if (view->filter[0]) {
		snprintf(text, sizeof(text), "[filter: %s]", view->filter);
		heading_append_badge(screen, SCREEN_SORTED, text);
	}
	if (defects) {
		snprintf(text, sizeof(text), "%zu kind%s of loss: c shows it", defects,
			 units_s(defects));
		heading_append_badge(screen, SCREEN_WARNING, text);
	}
	if (report->sites_in_use > report->site_count && report->site_count) {
		snprintf(text, sizeof(text), "the first %zu of %zu rows", report->site_count,
			 report->sites_in_use);
		heading_append_badge(screen, SCREEN_QUIET, text);
	}
	screen_end_line(screen);
}

void heading_draw(struct screen *screen, const struct content *content, const struct view *view,
		  size_t lines)
{
	const size_t first = screen->count;

	if (!content->report)
		return;
	if (lines)
		heading_targets(screen, content);
	/* The badges matter more than figures that the table has, too. */
	if (lines >= 3)
		heading_memory(screen, content, view);
	if (lines >= 4)
		heading_growth(screen, content, view);
	if (lines >= 5)
		heading_verdict(screen, content);
	/* A long verdict leaves no room for an empty line, and a longer one is cut. */
	if (lines >= 2) {
		screen_limit(screen, first + lines - 1);
		heading_badges(screen, content, view);
	}
	screen_fill(screen, first + lines);
}
