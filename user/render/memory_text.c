/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's memory as text: what it is mostly for in sentences, then a table of its parts, which add up to RSS, then what fills
 * the heaps. A screen, 80 columns wide.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "render/memory.h"
#include "render/memory_text_parts.h"
#include "render/text_style.h"

/* Verdicts shown; JSON has all. */
#define VERDICTS_SHOWN 5
/* What has no page in memory is shown if it is at least this much address space. */
#define MAPPED_SHOWN (16ull << 20)

static void memory_append_clock(struct buffer *line, int64_t wall_time)
{
	time_t seconds = (time_t)wall_time;
	char text[16];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%H:%M:%S ", &tm))
		buffer_append_string(line, text);
}

#define GROWTH_UNKNOWN INT64_MIN

/* Of all parts, however they are divided; GROWTH_UNKNOWN if pages are not known. */
static int64_t memory_growth_of_all(const struct memory_report *report)
{
	int64_t growth = 0;
	int i;

	if (!report->parts_before || report->growth_unknown & MEMORY_CUT_PAGES)
		return GROWTH_UNKNOWN;
	for (i = 0; i < PURPOSE_COUNT; i++)
		growth += (int64_t)(report->parts[i].rss - report->parts_before[i].rss);
	return growth;
}

/* Of all parts: ", +56.1 MiB in 3.0 s" */
static void memory_append_growth(struct buffer *line, const struct memory_report *report)
{
	char size[UNITS_TEXT_MAX + 1], time[UNITS_TEXT_MAX];
	int64_t growth = memory_growth_of_all(report);

	if (growth == GROWTH_UNKNOWN)
		return;
	buffer_printf(line, ", %s in %s", text_format_growth(growth, size),
		      units_format_time(report->since_ns, time));
}

/* "03:12:45 puma (21036): RSS 130 MiB, PSS 127 MiB, 21 threads" */
static void memory_text_opening(const struct text_writer *writer,
				const struct memory_report *report)
{
	/* Of several there may have been one that could be looked at. */
	const struct memory_process *process = report->member_count == 1 ? report->members
									 : &report->process;
	char size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	memory_append_clock(&line, report->wall_time);
	if (report->member_count > 1)
		buffer_printf(&line, "%zu processes", report->member_count);
	else
		buffer_printf(&line, "%s (%d)", process->comm, process->pid);
	buffer_printf(&line, ": RSS %s", units_format_size(process->rss_bytes, size));
	if (report->parts_before)
		memory_append_growth(&line, report);
	else if (!report->pss_unknown)
		buffer_printf(&line, ", PSS %s", units_format_size(process->pss_bytes, size));
	if (process->swap_bytes)
		buffer_printf(&line, ", swapped out %s",
			      units_format_size(process->swap_bytes, size));
	buffer_printf(&line, ", %s thread%s", units_format_count(process->threads, size),
		      units_s(process->threads));
	text_style_set(writer, STYLE_STRONG);
	columns_append_start(writer->out, line.data, writer->width);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n\n");
	buffer_free(&line);
}

static void memory_text_verdicts(const struct text_writer *writer,
				 const struct memory_report *report)
{
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < report->verdict_count && (i < VERDICTS_SHOWN || writer->verbose); i++) {
		const struct memory_verdict *verdict = &report->verdicts[i];

		buffer_clear(&line);
		if (strcmp(verdict->cause, "none") != 0)
			buffer_printf(&line, "%s: ", verdict->cause);
		buffer_printf(&line, "%s%s%s", verdict->text, verdict->remedy ? " " : "",
			      verdict->remedy ? verdict->remedy : "");
		columns_wrap(writer->out, line.data, writer->width, 2);
	}
	buffer_append_string(writer->out, report->verdict_count ? "\n" : "");
	buffer_free(&line);
}

/* The table of parts */

/* A row: a purpose, and what it is ranked by. */
struct part_row {
	enum purpose purpose;
	int64_t growth; /* or GROWTH_UNKNOWN */
	const struct purpose_sum *sum;
};

/* Which columns there are. */
struct part_columns {
	bool pss, swap, mapped, growth;
};

static int part_compare(const void *a, const void *b)
{
	const struct part_row *left = a, *right = b;

	if (left->growth != right->growth)
		return left->growth > right->growth ? -1 : 1;
	if (left->sum->rss != right->sum->rss)
		return left->sum->rss > right->sum->rss ? -1 : 1;
	if (left->sum->mapped != right->sum->mapped)
		return left->sum->mapped > right->sum->mapped ? -1 : 1;
	return (left->purpose > right->purpose) - (left->purpose < right->purpose);
}

static const char *part_size(uint64_t bytes, char *text)
{
	return bytes ? units_format_size(bytes, text) : strcpy(text, "-");
}

/* The figures of a row. */
static void part_text_figures(const struct text_writer *writer, const struct part_columns *columns,
			      const struct purpose_sum *sum, int64_t growth, uint64_t rss)
{
	char text[UNITS_TEXT_MAX + 1];

	if (columns->growth)
		buffer_printf(writer->out, "%11s ",
			      growth == GROWTH_UNKNOWN ? "?" : text_format_growth(growth, text));
	buffer_printf(writer->out, "%10s %5.1f%% ", part_size(sum->rss, text),
		      rss ? 100.0 * (double)sum->rss / (double)rss : 0.0);
	if (columns->pss)
		buffer_printf(writer->out, "%10s ", part_size(sum->pss, text));
	if (columns->swap)
		buffer_printf(writer->out, "%10s ", part_size(sum->swap, text));
	if (columns->mapped)
		buffer_printf(writer->out, "%10s ", part_size(sum->mapped, text));
}

static void part_text_titles(const struct text_writer *writer, const struct part_columns *columns)
{
	text_style_set(writer, STYLE_QUIET);
	if (columns->growth)
		buffer_printf(writer->out, "%11s ", "GROWTH");
	buffer_printf(writer->out, "%10s %6s ", "RSS", "%");
	if (columns->pss)
		buffer_printf(writer->out, "%10s ", "PSS");
	if (columns->swap)
		buffer_printf(writer->out, "%10s ", "SWAP");
	if (columns->mapped)
		buffer_printf(writer->out, "%10s ", "MAPPED");
	buffer_append_string(writer->out, " PURPOSE");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

static void part_text_name(const struct text_writer *writer, const struct part_columns *columns,
			   const char *title, uint64_t count)
{
	size_t used = 19 + (columns->growth ? 12 : 0) + (columns->pss ? 11 : 0) +
		      (columns->swap ? 11 : 0) + (columns->mapped ? 11 : 0);
	char number[UNITS_TEXT_MAX];
	struct buffer name = { 0 };

	buffer_append_string(&name, title);
	if (count > 1)
		buffer_printf(&name, " (%s)", units_format_count(count, number));
	buffer_append_string(writer->out, " ");
	columns_append_start(writer->out, name.data,
			     writer->width > used ? writer->width - used : 1);
	buffer_append_string(writer->out, "\n");
	buffer_free(&name);
}

/* Rows in their order; what is too small to be shown is added to `rest`. Returns how many are shown. */
static size_t part_rank(const struct text_writer *writer, const struct memory_report *report,
			struct part_row rows[PURPOSE_COUNT], struct part_row *rest)
{
	size_t i, count = 0;

	for (i = 0; i < PURPOSE_COUNT; i++) {
		const struct purpose_sum *sum = &report->parts[i];
		int64_t growth = report->parts_before ? GROWTH_UNKNOWN : 0;

		memory_report_growth_of_part(report, (enum purpose)i, &growth);
		if (sum->rss || sum->swap || (growth && growth != GROWTH_UNKNOWN) ||
		    sum->mapped >= MAPPED_SHOWN || (sum->mapped && writer->verbose)) {
			rows[count++] = (struct part_row){ (enum purpose)i, growth, sum };
		} else {
			purpose_sum_add((struct purpose_sum *)rest->sum, sum);
			if (growth != GROWTH_UNKNOWN)
				rest->growth += growth;
		}
	}
	qsort(rows, count, sizeof(rows[0]), part_compare);
	return count;
}

/* What the shares are of: where some parts were not seen, of all that the kernel counts. */
static uint64_t part_whole(const struct memory_report *report, const struct purpose_sum *total)
{
	return report->pages_unknown && report->process.rss_bytes > total->rss
		       ? report->process.rss_bytes
		       : total->rss;
}

static void part_text_total(const struct text_writer *writer, const struct part_columns *columns,
			    const struct memory_report *report, const struct purpose_sum *total,
			    int64_t growth)
{
	char size[UNITS_TEXT_MAX];
	struct buffer title = { 0 };

	buffer_printf(&title, "in all; VmRSS is %s",
		      units_format_size(report->process.rss_bytes, size));
	part_text_figures(writer, columns, total, growth, part_whole(report, total));
	part_text_name(writer, columns, title.data, 0);
	buffer_free(&title);
}

static void memory_text_parts(const struct text_writer *writer, const struct memory_report *report)
{
	struct purpose_sum total = { 0 }, others = { 0 };
	struct part_row rows[PURPOSE_COUNT], rest = { .sum = &others };
	size_t i, count = part_rank(writer, report, rows, &rest);
	struct part_columns columns = { .pss = !report->pss_unknown,
					.growth = report->parts_before != NULL };
	int64_t growth = memory_growth_of_all(report);

	for (i = 0; i < count; i++) {
		purpose_sum_add(&total, rows[i].sum);
	}
	purpose_sum_add(&total, &others);
	columns.swap = total.swap || writer->verbose;
	columns.mapped = !columns.growth || writer->verbose;
	part_text_titles(writer, &columns);
	for (i = 0; i < count; i++) {
		part_text_figures(writer, &columns, rows[i].sum, rows[i].growth,
				  part_whole(report, &total));
		part_text_name(writer, &columns, purpose_title(rows[i].purpose),
			       rows[i].sum->count);
	}
	if (others.mapped) {
		part_text_figures(writer, &columns, &others, rest.growth,
				  part_whole(report, &total));
		part_text_name(writer, &columns, "others, none of it in memory", 0);
	}
	part_text_total(writer, &columns, report, &total, growth);
}

/* Huge pages */

/* Of fewer it does not matter how they are used. */
#define HUGE_SHOWN (16ull << 20)

static void memory_text_huge(const struct text_writer *writer, const struct memory_report *report)
{
	const struct memory_process *process = &report->process;
	char size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (!process->huge_bytes || process->huge_bytes == HEAP_UNKNOWN ||
	    (process->huge_bytes < HUGE_SHOWN && process->huge_zero_bytes == HEAP_UNKNOWN))
		return;
	buffer_printf(&line, "Huge pages: %s of RSS; ",
		      units_format_size(process->huge_bytes, size));
	if (process->huge_zero_bytes == HEAP_UNKNOWN)
		buffer_append_string(&line, "--thp reads how much of it is zeroes.");
	else
		buffer_printf(&line, "%s of it is zeroes.",
			      units_format_size(process->huge_zero_bytes, size));
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

/* The end */

static void memory_text_lines(const struct text_writer *writer, const char *lines)
{
	struct buffer line = { 0 };
	size_t length;

	for (; lines && *lines; lines += length + (lines[length] == '\n')) {
		length = strcspn(lines, "\n");
		buffer_clear(&line);
		buffer_append(&line, lines, length);
		if (length)
			columns_wrap(writer->out, line.data, writer->width, 2);
	}
	buffer_free(&line);
}

static void memory_text_end(const struct text_writer *writer, const struct memory_report *report)
{
	char time[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_append_string(writer->out, "\n");
	memory_text_lines(writer, report->remarks.data);
	buffer_printf(&line, "Looked for %s, read %s in %s read%s; nothing was stopped or probed.",
		      units_format_time(report->duration_ns, time),
		      units_format_size(report->read_bytes, size),
		      units_format_count(report->reads, count), units_s(report->reads));
	text_style_set(writer, STYLE_QUIET);
	columns_append_start(writer->out, line.data, writer->width);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

static size_t memory_text_width(const struct render_options *options)
{
	size_t width = options->columns ? options->columns : RENDER_COLUMNS;

	if (options->paths)
		return COLUMNS_ANY;
	return width < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN : width;
}

void render_memory_text(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out)
{
	const struct text_writer writer = { .out = out,
					    .color = options->base.color,
					    .width = memory_text_width(&options->base),
					    .lines = options->base.lines,
					    .verbose = options->base.verbose,
					    .paths = options->base.paths };

	memory_text_opening(&writer, report);
	memory_text_verdicts(&writer, report);
	memory_text_parts(&writer, report);
	memory_text_huge(&writer, report);
	memory_text_members(&writer, report);
	memory_text_heaps(&writer, report);
	memory_text_runtimes(&writer, report, options->top);
	memory_text_kinds(&writer, report, options->top);
	memory_text_copies(&writer, report, options->top);
	memory_text_kernel(&writer, report);
	memory_text_end(&writer, report);
}
