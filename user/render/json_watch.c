/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_watch.h. */
#include "render/json_watch.h"

#include "render/json_budget.h"
#include "render/json_member.h"

static void watch_moment(struct json_writer *json, const struct report *report,
			 const struct course_moment *moment)
{
	json_writer_open(json, '{');
	json_member_seconds(
		json, "at_s",
		moment->time_ns > report->start_ns ? moment->time_ns - report->start_ns : 0, true);
	json_member_integer(json, "rss_bytes", moment->rss);
	json_member_integer(json, "malloc_live_bytes", moment->live);
	json_member_integer(json, "malloc_free_bytes", moment->free);
	if (report->options.estimates)
		json_budget_bytes(json, "tracked_bytes", &moment->gained);
	else
		json_member_integer(json, "tracked_bytes", moment->tracked);
	json_writer_close(json, '}');
}

/* null where malloc's memory cannot be counted. */
static void watch_course(struct json_writer *json, const struct report *report)
{
	const struct course *course = report->options.course;
	const struct course_verdict verdict = course_judge(course);
	size_t i;

	json_writer_key(json, "memory");
	if (!course->count) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	json_member_string(json, "word", course_name(verdict.word));
	json_budget_bytes(json, "rss_growth_bytes_per_s", &verdict.rss);
	json_budget_bytes(json, "malloc_live_growth_bytes_per_s", &verdict.live);
	json_budget_bytes(json, "malloc_free_growth_bytes_per_s", &verdict.free_growth);
	json_writer_key(json, "moments");
	json_writer_open(json, '[');
	for (i = 0; i < course->count; i++)
		watch_moment(json, report, &course->moments[i]);
	json_writer_close(json, ']');
	json_writer_close(json, '}');
}

void json_watch(struct json_writer *json, const struct report *report)
{
	const struct settled *settled = report->options.settled;
	const uint64_t wait_ns = settled_wait_ns(settled);

	json_writer_key(json, "watch");
	json_writer_open(json, '{');
	json_member_string(json, "calls", report->options.estimates ? "windows" : "all");
	json_member_bool(json, "sure", settled_is_sure(settled));
	json_member_integer(json, "rows_that_matter", settled->matter);
	json_member_integer(json, "rows_not_sure", settled->open);
	json_member_seconds(json, "wait_s", wait_ns, wait_ns);
	watch_course(json, report);
	json_writer_close(json, '}');
}
