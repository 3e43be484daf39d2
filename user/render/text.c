/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text format, for a person at a terminal: one line of summary, a table of the sites, the stacks of the first ones, and how
 * far the figures can be trusted. Never wider than the terminal, and by default no longer, unless -vv asks for everything.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "render/columns.h"
#include "render/formats.h"
#include "render/text_parts.h"

/* The local time of day: it distinguishes reports that follow each other. */
static void text_append_clock(struct buffer *line, int64_t wall_time)
{
	time_t seconds = (time_t)wall_time;
	char text[16];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%H:%M:%S ", &tm))
		buffer_append_string(line, text);
}

static void text_append_targets(struct buffer *line, const struct report *report)
{
	const struct target *target;
	char count[UNITS_TEXT_MAX];

	if (report->target_count != 1) {
		buffer_printf(line, "%s processes",
			      units_format_count(report->target_count, count));
		return;
	}
	target = report->targets[0];
	columns_append_start(line, target->comm, COMM_MAX);
	/* The kernel has none. */
	if (target->pid)
		buffer_printf(line, " (%d%s)", target->pid, target->exited ? ", exited" : "");
}

/* If there is room. */
static void text_append_growth(struct buffer *line, const struct report *report, size_t width)
{
	static const char since[] = " since the last report";
	char growth[UNITS_TEXT_MAX + 2];

	if (!report->growth.known)
		return;
	text_format_growth(report->growth.bytes, growth);
	text_approximate(growth, report->options.estimates && report->growth.bytes);
	if (width == COLUMNS_ANY ||
	    columns_of(line->data) + strlen(growth) + sizeof(since) + 1 <= width)
		buffer_printf(line, ", %s%s", growth, since);
}

/* Pages that several processes have are in the RSS of each: by their shares, all have so much. 0 where it is not known of one. */
static uint64_t text_share(const struct report *report)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < report->target_count; i++) {
		const struct target_usage *usage = &report->targets[i]->usage;

		if (usage->known && !usage->pss_known)
			return 0;
		bytes += usage->known ? usage->pss_bytes : 0;
	}
	return bytes;
}

/* "RSS 412 MiB, 38 threads", or what most of it is free for: of one process, or of all, with their PSS. */
static void text_memory(const struct text_writer *writer, const struct report *report)
{
	char size[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];
	uint64_t rss = 0, threads = 0, share = report->target_count > 1 ? text_share(report) : 0;
	size_t i;

	for (i = 0; i < report->target_count; i++) {
		const struct target_usage *usage = &report->targets[i]->usage;

		rss += usage->known ? usage->rss_bytes : 0;
		threads += usage->known ? usage->threads : 0;
	}
	if (!threads)
		return;
	buffer_printf(writer->out, "RSS %s, ", units_format_size(rss, size));
	if (share)
		buffer_printf(writer->out, "PSS %s, ", units_format_size(share, size));
	buffer_printf(writer->out, "%s %s\n", units_format_count(threads, count),
		      threads == 1 ? "thread" : "threads");
	if (report->malloc_free_bytes > rss / 8)
		buffer_printf(writer->out, "%s of RSS is free in malloc: tracer memory -p %d\n",
			      units_format_size(report->malloc_free_bytes, size),
			      report->targets[0]->pid);
}

/* What is left out of the figures. */
static void text_limits(const struct text_writer *writer, const struct report *report)
{
	uint64_t survived = report->options.survived;
	char time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (survived) {
		buffer_printf(&line,
			      "Only blocks that have outlived %" PRIu64
			      " major garbage collection%s are counted.",
			      survived, units_s(survived));
		columns_wrap(writer->out, line.data, writer->width, 0);
		buffer_clear(&line);
	}
	if (report->options.min_age_ns) {
		buffer_printf(&line, "Only blocks that are at least %s old are counted.",
			      units_format_time(report->options.min_age_ns, time));
		columns_wrap(writer->out, line.data, writer->width, 0);
	}
	buffer_free(&line);
}

/* "03:12:45 ruby (4242) traced for 30.0 s: 48.8 MiB in use, +1.2 MiB since the last report" */
static void text_opening(const struct text_writer *writer, const struct report *report)
{
	uint64_t bytes = site_stats_inuse_bytes(&report->totals);
	char time[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX + 1];
	struct buffer line = { 0 };
	size_t clock;

	units_format_size(bytes, size);
	text_approximate(size, site_stats_hold(&report->sampled));

	text_append_clock(&line, report->wall_time);
	clock = line.length;
	text_append_targets(&line, report);
	buffer_printf(&line, " traced for %s: %s in use",
		      units_format_time(report->duration_ns, time),
		      site_stats_hold(&report->totals) ? size
		      : report->options.estimates      ? "nothing known"
						       : "nothing");
	/* The clock is the first that a reader can do without. */
	if (columns_of(line.data) <= writer->width)
		clock = 0;
	text_append_growth(&line, report, writer->width);
	text_style_set(writer, STYLE_STRONG);
	columns_append_start(writer->out, line.data + clock, writer->width);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	text_memory(writer, report);
	text_limits(writer, report);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* Estimates are of blocks that stay: those of which none is known. */
static void text_nothing_estimated(const struct budget_report *budget, struct buffer *line)
{
	char count[UNITS_TEXT_MAX];

	if (budget->recorded)
		buffer_printf(line,
			      "No site is known to hold more: of %s block%s recorded in windows, "
			      "none is known to stay.",
			      units_format_count(budget->recorded, count),
			      units_s(budget->recorded));
	else
		buffer_append_string(line,
				     "No site is known to hold more: no allocation was recorded.");
}

/* An empty list needs a reason: print it. */
static void text_nothing(const struct text_writer *writer, const struct report *report)
{
	uint64_t objects = report->recorded.alloc_objects;
	uint64_t young = site_stats_inuse_objects(&report->recorded);
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (report->sites_left_out)
		buffer_printf(&line,
			      "Nothing of what is in use matches --only: left out %s site%s.",
			      units_format_count(report->sites_left_out, count),
			      units_s(report->sites_left_out));
	else if (report->options.estimates)
		text_nothing_estimated(report->options.estimates->report, &line);
	else if (!objects)
		buffer_append_string(&line, "Nothing is in use: no allocation was recorded.");
	else if (young && report->options.survived)
		buffer_printf(&line,
			      "Nothing is in use: of %s block%s held, none has outlived %llu major "
			      "garbage collection%s of a collector that is known.",
			      units_format_count(young, count), units_s(young),
			      (unsigned long long)report->options.survived,
			      units_s(report->options.survived));
	else if (young)
		buffer_printf(&line, "Nothing is in use: of %s block%s held, none is as old as %s.",
			      units_format_count(young, count), units_s(young),
			      units_format_time(report->options.min_age_ns, time));
	else
		buffer_printf(&line, "Nothing is in use: recorded %s block%s, all freed.",
			      units_format_count(objects, count), units_s(objects));
	columns_wrap(writer->out, line.data, writer->width, 0);
	buffer_free(&line);
}

static bool text_shows_any_site(const struct report *report)
{
	size_t i;

	for (i = 0; i < report->site_count; i++)
		if (text_shows_site(report, &report->sites[i]))
			return true;
	return false;
}

static size_t text_width_of(const struct render_options *options)
{
	size_t width = options->columns ? options->columns : RENDER_COLUMNS;

	if (options->paths)
		return COLUMNS_ANY;
	return width < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN : width;
}

/* Lines of the screen, less those above and below the stacks, and one for the prompt. */
static size_t text_room(const struct render_options *options, const struct report *report,
			size_t opening_lines, size_t end_lines)
{
	size_t lines = options->lines ? options->lines : RENDER_LINES;
	/* Titles, rows, those of the rest and the totals, and an empty line. */
	size_t used = opening_lines + 1 + report->site_count + 2 + 1 + end_lines + 1;

	used += report->sites_left_out > 0;
	used += site_stats_hold(&report->ended);
	used += report->recorded.samples > 0;
	return lines > used ? lines - used : 0;
}

/* What follows the stacks. */
static void text_end(const struct text_writer *writer, const struct report *report)
{
	if (report->target_count > 1)
		text_processes(writer, report);
	buffer_append_string(writer->out, "\n");
	text_peak(writer, report);
	text_coverage(writer, report);
}

void render_text(const struct report *report, const struct render_options *options,
		 struct buffer *out)
{
	struct text_writer writer = { .out = out,
				      .color = options->color,
				      .width = text_width_of(options),
				      .lines = options->lines,
				      .frames = options->frames,
				      .verbose = options->verbose,
				      .paths = options->paths };
	struct text_writer at_end = writer;
	size_t begin = out->length, opening_lines;
	struct buffer end = { 0 };

	at_end.out = &end;
	text_end(&at_end, report);
	text_opening(&writer, report);
	opening_lines = text_count_lines(out, begin);
	if (text_shows_any_site(report)) {
		text_sites(&writer, report, options);
		text_stacks(&writer, report, options,
			    text_room(options, report, opening_lines, text_count_lines(&end, 0)));
	} else {
		text_nothing(&writer, report);
	}
	buffer_append(out, end.data, end.length);
	buffer_free(&end);
}
