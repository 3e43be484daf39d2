/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See html_more.h. */
#include "render/html_more.h"

#include <stdlib.h>

#include "verdict/history.h"
#include "verdict/verdict_clause.h"
#include "base/memory.h"
#include "model/loss.h"
#include "model/purpose.h"
#include "model/timeline.h"
#include "render/difference_view.h"
#include "render/formats.h"
#include "render/json_member.h"
#include "render/text_place.h"

/* So many changes are written, of the first sites: some megabytes. */
#define CHANGES_MAX 400000

/* The words for verdicts and regions, the most important verdict first. */
static void html_more_words(struct json_writer *json)
{
	int word, region;

	json_writer_key(json, "words");
	json_writer_open(json, '{');
	for (word = VERDICT_WORDS - 1; word > VERDICT_NONE; word--)
		json_member_string(json, verdict_name((enum verdict_word)word),
				   verdict_clause_title((enum verdict_word)word));
	json_writer_close(json, '}');
	json_writer_key(json, "regions");
	json_writer_open(json, '{');
	for (region = REGION_NONE + 1; region < REGION_COUNT; region++) {
		json_writer_key(json, region_name((enum region)region));
		json_writer_open(json, '{');
		json_member_string(json, "title", region_title((enum region)region));
		json_member_bool(json, "line", region_has_line((enum region)region));
		json_writer_close(json, '}');
	}
	json_writer_close(json, '}');
}

/* The subject of a row, as text has it. */
static void html_more_line(struct json_writer *json, const struct report_site *site)
{
	const struct report_frame *frame = text_place_frame(site);
	struct buffer text = { 0 };

	if (frame) {
		json_writer_integer(json, (uint64_t)(frame - site->frames));
		return;
	}
	text_place_append_row(&text, site, COLUMNS_ANY);
	json_writer_string(json, text.data);
	buffer_free(&text);
}

static void html_more_lines(struct json_writer *json, const struct report *report,
			    const struct render_options *options)
{
	struct report_site site;
	size_t i;

	json_writer_key(json, "lines");
	json_writer_open(json, '[');
	for (i = 0; i < report->site_count && render_drain(options, json->out); i++) {
		site = report_open_site(report, i);
		html_more_line(json, &site);
		report_close_site(&site);
	}
	json_writer_close(json, ']');
}

static void html_more_difference_lines(struct json_writer *json,
				       const struct difference *difference,
				       const struct render_difference_options *options)
{
	const size_t top = options->top ? options->top : difference->site_count;
	struct difference_view view;
	size_t i;

	json_writer_key(json, "lines");
	json_writer_open(json, '[');
	for (i = 0;
	     i < difference->site_count && i < top && render_drain(&options->base, json->out);
	     i++) {
		difference_view_open(&view, &difference->sites[i]);
		html_more_line(json, &view.site);
		difference_view_close(&view);
	}
	json_writer_close(json, ']');
}

static void html_more_times(struct json_writer *json, const struct timeline *timeline)
{
	size_t i;

	json_writer_key(json, "times_s");
	json_writer_open(json, '[');
	for (i = 0; i < timeline->count; i++)
		json_writer_seconds(json, timeline->moments[i].time_ns);
	json_writer_close(json, ']');
	json_writer_key(json, "bytes");
	json_writer_open(json, '[');
	for (i = 0; i < timeline->count; i++)
		json_writer_integer(json, timeline->moments[i].bytes);
	json_writer_close(json, ']');
}

static void html_more_marks(struct json_writer *json, const struct timeline *timeline)
{
	size_t i;

	json_writer_key(json, "marks");
	json_writer_open(json, '[');
	for (i = 0; i < timeline->mark_count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "name", timeline->marks[i].name);
		json_member_seconds(json, "time_s",
				    timeline->moments[timeline->marks[i].moment].time_ns, true);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

/* Returns how many changes there are. */
static size_t html_more_changes(struct json_writer *json, const uint64_t *bytes, size_t count)
{
	uint64_t before = 0;
	size_t i, changes = 0;

	json_writer_open(json, '[');
	for (i = 0; i < count; i++) {
		if (bytes[i] == before)
			continue;
		json_writer_open(json, '[');
		json_writer_integer(json, i);
		json_writer_integer(json, bytes[i]);
		json_writer_close(json, ']');
		before = bytes[i];
		changes++;
	}
	json_writer_close(json, ']');
	return changes;
}

static void html_more_sites(struct json_writer *json, const struct report *report,
			    const struct timeline *timeline, const struct render_options *options)
{
	uint64_t *bytes = memory_alloc(timeline->count + 1, sizeof(*bytes));
	size_t i, changes = 0;

	json_writer_key(json, "sites");
	json_writer_open(json, '[');
	for (i = 0; i < report->site_count && changes < CHANGES_MAX; i++) {
		if (!timeline_add_row(timeline, report->sites[i].origin, bytes) ||
		    !render_drain(options, json->out))
			continue;
		json_writer_open(json, '[');
		json_writer_integer(json, i);
		changes += html_more_changes(json, bytes, timeline->count);
		json_writer_close(json, ']');
	}
	json_writer_close(json, ']');
	free(bytes);
}

static void html_more_history(struct json_writer *json, const struct report *report,
			      const struct render_options *options)
{
	struct timeline own = { 0 };
	const struct timeline *timeline = report->options.timeline;

	if (!timeline && report->options.history) {
		history_take(report->options.history, report->start_ns, &own);
		timeline = &own;
	}
	json_writer_key(json, "history");
	if (timeline && timeline->count) {
		json_writer_open(json, '{');
		html_more_times(json, timeline);
		html_more_marks(json, timeline);
		html_more_sites(json, report, timeline, options);
		json_writer_close(json, '}');
	} else {
		json_writer_null(json);
	}
	timeline_free(&own);
}

static void html_more_losses(struct json_writer *json, const struct report *report)
{
	int loss;

	json_writer_key(json, "losses");
	json_writer_open(json, '[');
	for (loss = 0; loss < LOSS_COUNT; loss++) {
		if (!report->loss[loss])
			continue;
		json_writer_open(json, '{');
		json_member_string(json, "name", loss_name((enum loss)loss));
		json_member_string(json, "sentence", loss_sentence((enum loss)loss));
		json_member_bool(json, "defect", loss_is_defect((enum loss)loss));
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

void html_more_write(const struct report *report, const struct render_options *options,
		     struct buffer *out)
{
	struct json_writer json = { .out = out };

	json_writer_open(&json, '{');
	json_member_bool(&json, "lost", report->options.is_lost);
	html_more_words(&json);
	html_more_lines(&json, report, options);
	html_more_history(&json, report, options);
	html_more_losses(&json, report);
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}

void html_more_write_difference(const struct difference *difference,
				const struct render_difference_options *options, struct buffer *out)
{
	struct json_writer json = { .out = out };

	json_writer_open(&json, '{');
	html_more_words(&json);
	html_more_difference_lines(&json, difference, options);
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}

void html_more_write_titles(struct buffer *out)
{
	struct json_writer json = { .out = out };
	int purpose;

	json_writer_open(&json, '{');
	json_writer_key(&json, "titles");
	json_writer_open(&json, '{');
	for (purpose = 0; purpose < PURPOSE_COUNT; purpose++)
		json_member_string(&json, purpose_name((enum purpose)purpose),
				   purpose_title((enum purpose)purpose));
	json_writer_close(&json, '}');
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}
