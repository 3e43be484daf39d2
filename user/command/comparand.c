/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See comparand.h. */
#include "command/comparand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verdict/budget_since.h"
#include "analyze/group.h"
#include "analyze/report_profile.h"
#include "base/memory.h"
#include "base/text.h"
#include "command/reporter.h"
#include "recording/json_file.h"
#include "recording/json_report.h"
#include "recording/reader.h"
#include "render/render.h"

/* Names */

int comparand_parse(struct comparand *comparand, const char *name, const char *before,
		    struct error *error)
{
	const char *sign = strrchr(name, '@');

	*comparand = (struct comparand){ .name = name };
	if (sign == name && before) {
		comparand->path = memory_copy_string(before);
		comparand->at = name + 1;
	} else if (!sign || sign == name || !access(name, F_OK)) {
		comparand->path = memory_copy_string(name);
	} else {
		comparand->path = memory_format("%.*s", (int)(sign - name), name);
		comparand->at = sign + 1;
	}
	if (comparand->at && !*comparand->at)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "behind '@', a moment is missing: a mark, or a time");
	comparand->is_json = json_file_is(comparand->path);
	if (comparand->is_json && comparand->at)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "a report in JSON is of one moment: only recordings have others "
				 "('@MOMENT')");
	return 0;
}

void comparand_set(struct comparand *comparand, const char *name, const char *path, const char *at)
{
	*comparand = (struct comparand){ .name = name, .path = memory_copy_string(path), .at = at };
	comparand->is_json = json_file_is(path);
}

/* Is there a file of this name, or of what comes before its last '@'? */
static bool comparand_is_file(const char *name)
{
	const char *sign = strrchr(name, '@');
	char *path;
	bool found;

	if (!access(name, F_OK))
		return true;
	if (!sign || sign == name)
		return false;
	path = memory_format("%.*s", (int)(sign - name), name);
	found = !access(path, F_OK);
	free(path);
	return found;
}

int comparand_parse_base(struct comparand *comparand, const char *name, const char *path,
			 struct error *error)
{
	if (*name == '@' || comparand_is_file(name))
		return comparand_parse(comparand, name, path, error);
	comparand_set(comparand, name, path, name);
	return 0;
}

void comparand_close(struct comparand *comparand)
{
	free(comparand->path);
	*comparand = (struct comparand){ 0 };
}

/* Recordings */

static const struct symbol_list *comparand_lookup(void *context, const struct frame *frame)
{
	return reader_lookup(context, frame);
}

static const char *comparand_hint(void *context, const struct frame *frame)
{
	return reader_hint(context, frame);
}

static void comparand_fill(struct reader *reader, struct snapshot *snapshot,
			   const struct snapshot *first, const struct options *options,
			   struct profile *profile)
{
	const struct report_names names = { .lookup = comparand_lookup,
					    .context = reader,
					    .hint = comparand_hint };
	struct budget_estimates *estimates = budget_estimates_new(snapshot->budget);
	const struct report_options wanted = {
		.without_young = reader->min_age_ns || reader->survived,
		.min_age_ns = reader->min_age_ns,
		.survived = reader->survived,
		.lines = options->format->by_line || options->format->page,
		.internal = options->level == LOG_VERBOSE,
		.estimates = estimates,
		.judge = judge_new(snapshot, &options->rules, &names),
	};
	struct grouped *grouped;
	struct report *report;
	size_t i;

	if (estimates)
		budget_estimates_apply(estimates, snapshot);
	if (estimates && first)
		budget_since_begin(estimates, first->budget);
	grouped = group_build(snapshot, reporter_by(options), wanted.internal, wanted.judge);
	report = report_build(&grouped->snapshot, &wanted, &names);
	report_profile_fill(profile, report);
	profile->run = snapshot->id_seed;
	profile->time_ns = snapshot->time_ns;
	profile->windows = snapshot->budget;
	profile->births_known = snapshot->births_known;
	for (i = 0; i < snapshot->marks.count; i++)
		marks_add(&profile->marks, snapshot->marks.times_ns[i]);
	report_free(report);
	group_free(grouped);
	judge_free(wanted.judge);
	budget_estimates_free(estimates);
}

static int comparand_load(const struct comparand *comparand, struct reader *reader,
			  struct snapshot **ret_snapshot, struct error *error)
{
	struct moment moment = { .kind = MOMENT_LAST };
	uint64_t interval = 0;
	int code = reader_open(reader, comparand->path, error);

	if (code)
		return code;
	if (comparand->at)
		moment = reader_parse_moment(comparand->at);
	code = reader_find(reader, &moment, &interval, error);
	return code ? code : reader_load(reader, interval, ret_snapshot, error);
}

/* What estimates have gained since another moment is made of what windows had seen at both. */
static int comparand_refuse(const struct comparand *comparand, const char *why, struct error *error)
{
	struct buffer path = { 0 };

	text_append_safe(&path, comparand->name);
	error_set(error, ERROR_USAGE, -EINVAL,
		  "cannot compare '%s': its figures are estimates of --budget, of what has grown "
		  "since tracing began; %s",
		  path.data, why);
	buffer_free(&path);
	return -EINVAL;
}

static int comparand_load_first(const struct comparand *comparand, const struct comparand *first,
				const struct snapshot *snapshot, struct snapshot **ret_first,
				struct error *error)
{
	struct reader reader = { 0 };
	int code;

	if (first->is_json)
		return comparand_refuse(
			comparand, "of these, moments of one recording can be compared", error);
	code = comparand_load(first, &reader, ret_first, error);
	reader_close(&reader);
	if (code)
		return code;
	if (!(*ret_first)->budget || (*ret_first)->id_seed != snapshot->id_seed)
		return comparand_refuse(
			comparand, "of these, moments of one recording can be compared", error);
	if (!budget_since_is_of_one((*ret_first)->budget, snapshot->budget))
		return comparand_refuse(comparand, "the earlier moment comes first", error);
	return 0;
}

static int comparand_read_recording(const struct comparand *comparand,
				    const struct comparand *first, const struct options *options,
				    struct profile *profile, struct error *error)
{
	struct snapshot *snapshot = NULL, *before = NULL;
	struct reader reader = { 0 };
	int code = comparand_load(comparand, &reader, &snapshot, error);

	if (!code && snapshot->budget && first)
		code = comparand_load_first(comparand, first, snapshot, &before, error);
	if (!code)
		comparand_fill(&reader, snapshot, before, options, profile);
	snapshot_free(snapshot);
	snapshot_free(before);
	reader_close(&reader);
	return code;
}

/* Reports */

static int comparand_read_report(const struct comparand *comparand, const struct options *options,
				 struct profile *profile, struct error *error)
{
	struct buffer text = { 0 }, what = { 0 };
	int code;

	if ((options->by != GROUP_BY_DEFAULT && options->by != GROUP_BY_STACK) ||
	    options->rules.hide.count || options->rules.only.count || options->rules.app_count)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "rows of a report in JSON are as they were written: --by, --app, "
				 "--hide and --only are for recordings");
	buffer_append_string(&what, "report '");
	text_append_safe(&what, comparand->path);
	buffer_append_string(&what, "'");
	code = json_file_read(comparand->path, JSON_REPORT_MAX, "report", &text, error);
	if (!code)
		code = json_report_parse(&text, what.data, profile, error);
	buffer_free(&text);
	buffer_free(&what);
	return code;
}

int comparand_read(const struct comparand *comparand, const struct comparand *first,
		   const struct options *options, struct profile *profile, struct error *error)
{
	profile->name = comparand->name;
	if (comparand->is_json)
		return comparand_read_report(comparand, options, profile, error);
	return comparand_read_recording(comparand, first, options, profile, error);
}
