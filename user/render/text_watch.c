/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A watch as text: a line for each row that is a leak or grows, one for all rows of each other word, what the memory of the process did,
 * and whether that is sure.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict/verdict_clause.h"
#include "base/units.h"
#include "render/formats.h"
#include "render/text_place.h"
#include "render/text_style.h"

#define SECOND 1000000000ULL

/* Columns of the table. */
#define WORD 11
#define RATE 12
#define SIZE 12
#define BLOCKS 16

/* Moments of the process's memory that are shown, of all. */
#define MOMENTS_SHOWN 5

static const char *watch_rate(double bytes_per_s, char text[UNITS_TEXT_MAX + 2])
{
	char size[UNITS_TEXT_MAX];

	/* Neither 0 nor known. */
	if (!isfinite(bytes_per_s))
		return "";
	units_format_size(fabs(bytes_per_s) < 1e18 ? (uint64_t)(fabs(bytes_per_s) + 0.5) : 0, size);
	snprintf(text, UNITS_TEXT_MAX + 2, "%s%.24s/s", bytes_per_s < -0.5 ? "-" : "", size);
	return text;
}

static void watch_opening(const struct text_writer *writer, const struct report *report)
{
	const struct target *target = report->target_count == 1 ? report->targets[0] : NULL;
	char time[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer line = { 0 }, rss = { 0 };

	if (target) {
		columns_append_start(&line, target->comm, COLUMNS_ANY);
		buffer_printf(&line, " (%d%s)", target->pid, target->exited ? ", exited" : "");
	} else {
		buffer_printf(&line, "%zu processes", report->target_count);
	}
	buffer_printf(&line, " watched for %s, %s: %s%s more in use",
		      units_format_time(report->duration_ns / SECOND * SECOND, time),
		      report->options.estimates ? "in windows" : "all calls",
		      report->options.estimates ? "~" : "",
		      units_format_size(site_stats_inuse_bytes(&report->totals), size));
	if (target && target->usage.known)
		buffer_printf(&rss, ", RSS %s", units_format_size(target->usage.rss_bytes, size));
	/* The table below has it, too. */
	if (rss.length && (writer->width == COLUMNS_ANY ||
			   columns_of(line.data) + columns_of(rss.data) <= writer->width))
		buffer_append_string(&line, rss.data);
	buffer_free(&rss);
	text_style_set(writer, STYLE_STRONG);
	columns_append_start(writer->out, line.data, writer->width);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* A field and the blanks behind it, at least one. */
static void watch_field(struct buffer *out, const char *text, size_t width)
{
	buffer_append_string(out, text);
	columns_pad(out, columns_of(text), width - 1);
	buffer_append_string(out, " ");
}

/* "shop.rb:71 via quickparse.c:22, :18" */
static void watch_place(const struct text_writer *writer, const struct report_site *site,
			size_t used)
{
	size_t width = writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - used;
	struct buffer place = { 0 };

	text_place_append_row(&place, site, width);
	if (width == COLUMNS_ANY || columns_of(place.data) + sizeof(" via ") + 8 < width) {
		buffer_append_string(&place, " via ");
		text_place_append_via(&place, site,
				      width == COLUMNS_ANY ? width
							   : width - columns_of(place.data));
	}
	buffer_append_string(writer->out, place.data);
	buffer_append_string(writer->out, "\n");
	buffer_free(&place);
}

static void watch_row(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site)
{
	const struct verdict *verdict = &site->verdict;
	char rate[UNITS_TEXT_MAX + 2],
		size[UNITS_TEXT_MAX + 2] = "+", count[UNITS_TEXT_MAX + sizeof(" blocks")];
	struct buffer clause = { 0 };

	text_style_set(writer, verdict->word == VERDICT_LEAK ? STYLE_WARNING : STYLE_PLAIN);
	watch_field(writer->out, verdict_clause_title(verdict->word), WORD);
	text_style_set(writer, STYLE_PLAIN);
	watch_field(writer->out, watch_rate(verdict->growth.value, rate), RATE);
	units_format_size(site_stats_inuse_bytes(&site->stats), size + 1);
	watch_field(writer->out, size, SIZE);
	units_format_count(site_stats_inuse_objects(&site->stats), count);
	strcat(count, site_stats_inuse_objects(&site->stats) == 1 ? " block" : " blocks");
	watch_field(writer->out, count, BLOCKS);
	watch_place(writer, site, WORD + RATE + SIZE + BLOCKS);
	verdict_clause_append(verdict, &clause);
	if (clause.length) {
		columns_pad(writer->out, 0, WORD);
		columns_wrap(writer->out, clause.data,
			     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - WORD,
			     WORD);
	}
	buffer_free(&clause);
	(void)report;
}

/* Rows of a word that have no line of their own. */
static void watch_rest(const struct text_writer *writer, const char *word, size_t rows,
		       uint64_t bytes, uint64_t wait_ns)
{
	char size[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (!rows)
		return;
	watch_field(writer->out, word, WORD + RATE);
	watch_field(writer->out, units_format_size(bytes, size), SIZE);
	buffer_printf(writer->out, "%s line%s", units_format_count(rows, count), units_s(rows));
	if (wait_ns)
		buffer_printf(writer->out, ": about %s more",
			      units_format_time((wait_ns + SECOND - 1) / SECOND * SECOND, time));
	buffer_append_string(writer->out, "\n");
}

/* The row that holds most; SIZE_MAX = no row holds anything. */
static size_t watch_greatest(const struct report *report)
{
	uint64_t most = 0, bytes;
	size_t greatest = SIZE_MAX, i;

	for (i = 0; i < report->site_count; i++) {
		bytes = site_stats_inuse_bytes(&report->sites[i].stats);
		if (bytes <= most)
			continue;
		most = bytes;
		greatest = i;
	}
	return greatest;
}

/* Does a row have a line of its own? */
static bool watch_shows(const struct report_site *site)
{
	return site->verdict.word > VERDICT_UNKNOWN;
}

static bool watch_has_ended(const struct report *report)
{
	size_t i;

	for (i = 0; i < report->target_count && report->targets[i]->exited; i++)
		;
	return i == report->target_count;
}

static void watch_rows(const struct text_writer *writer, const struct report *report)
{
	const struct settled *settled = report->options.settled;
	const size_t greatest = watch_greatest(report);
	struct settled_sum words[VERDICT_WORDS];
	enum verdict_word word;
	size_t i;

	memcpy(words, settled->words, sizeof(words));
	for (i = 0; i < report->site_count; i++) {
		struct report_site site = report_open_site(report, i);

		if (watch_shows(&site) || i == greatest) {
			struct settled_sum *sum = &words[site.verdict.word];
			uint64_t bytes = site_stats_inuse_bytes(&site.stats);

			watch_row(writer, report, &site);
			sum->rows -= sum->rows > 0;
			sum->bytes -= sum->bytes < bytes ? sum->bytes : bytes;
		}
		report_close_site(&site);
	}
	for (word = VERDICT_LEAK; word > VERDICT_NONE; word--)
		watch_rest(writer,
			   word == VERDICT_UNKNOWN ? "not yet known" : verdict_clause_title(word),
			   words[word].rows, words[word].bytes,
			   word == VERDICT_UNKNOWN && !watch_has_ended(report) ? settled->wait_ns
									       : 0);
}

static void watch_free_memory(const struct text_writer *writer, const struct course *course)
{
	const struct course_verdict verdict = course_judge(course);
	char size[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX + 2];

	if (verdict.word == COURSE_UNKNOWN)
		return;
	units_format_size(verdict.free, size);
	if (verdict.word == COURSE_PLAIN)
		buffer_printf(writer->out, "no fragmentation: %s free in malloc\n", size);
	else if (!(verdict.free_growth.low > 0))
		buffer_printf(writer->out, "fragmentation: %s free in malloc, not growing\n", size);
	else if (verdict.free_growth.value > verdict.live.value)
		buffer_printf(writer->out, "fragmentation: %s free in malloc, growing by %s\n",
			      size, watch_rate(verdict.free_growth.value, rate));
	else
		buffer_printf(
			writer->out,
			"fragmentation: %s free in malloc, growing less than what is in use\n",
			size);
}

static void watch_moment(const struct text_writer *writer, const struct report *report,
			 const struct course_moment *moment)
{
	char text[UNITS_TEXT_MAX];
	uint64_t at_ns = moment->time_ns > report->start_ns ? moment->time_ns - report->start_ns
							    : 0;

	watch_field(writer->out, units_format_time(at_ns / SECOND * SECOND, text), WORD);
	watch_field(writer->out, units_format_size(moment->rss, text), RATE);
	watch_field(writer->out, units_format_size(moment->live + moment->free, text), RATE);
	watch_field(writer->out, units_format_size(moment->live, text), RATE);
	watch_field(writer->out, units_format_size(moment->free, text), RATE);
	buffer_printf(writer->out, "%s%s\n", report->options.estimates ? "~" : "",
		      units_format_size(moment->tracked, text));
}

/* The figures of the process side by side, first and last included. */
static void watch_moments(const struct text_writer *writer, const struct report *report)
{
	const struct course *course = report->options.course;
	size_t shown = course->count < MOMENTS_SHOWN ? course->count : MOMENTS_SHOWN, i;

	if (shown < 2)
		return;
	watch_field(writer->out, "at", WORD);
	watch_field(writer->out, "RSS", RATE);
	watch_field(writer->out, "malloc's", RATE);
	watch_field(writer->out, "in use", RATE);
	watch_field(writer->out, "free", RATE);
	buffer_append_string(writer->out, "traced in use\n");
	for (i = 0; i < shown; i++)
		watch_moment(writer, report,
			     &course->moments[i * (course->count - 1) / (shown - 1)]);
}

static void watch_end(const struct text_writer *writer, const struct report *report)
{
	const struct settled *settled = report->options.settled;
	const uint64_t wait_ns = settled_wait_ns(settled);
	char time[UNITS_TEXT_MAX];

	if (settled_is_sure(settled)) {
		buffer_printf(writer->out, "sure: %zu leak%s\n", report->leaks,
			      units_s(report->leaks));
		return;
	}
	if (watch_has_ended(report)) {
		buffer_append_string(writer->out, "not sure: it has ended\n");
		return;
	}
	buffer_append_string(writer->out, "not sure yet");
	if (!settled->matter)
		buffer_append_string(writer->out, ": nothing is in use");
	if (!settled->matter && settled->heaps_may_grow)
		buffer_append_string(writer->out, " that windows have seen, but heaps may grow");
	if (wait_ns)
		buffer_printf(writer->out, ": about %s more",
			      units_format_time((wait_ns + SECOND - 1) / SECOND * SECOND, time));
	buffer_append_string(writer->out, "\n");
}

void render_watch_text(const struct report *report, const struct render_options *options,
		       struct buffer *out)
{
	const size_t columns = options->columns ? options->columns : RENDER_COLUMNS;
	const struct text_writer writer = {
		.out = out,
		.color = options->color,
		.width = options->paths		      ? COLUMNS_ANY
			 : columns < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN
						      : columns,
	};

	watch_opening(&writer, report);
	watch_rows(&writer, report);
	watch_free_memory(&writer, report->options.course);
	watch_moments(&writer, report);
	watch_end(&writer, report);
}
