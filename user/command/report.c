/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer report`: a moment of a recording, as a report of that moment would have been. Needs no process, no privilege and no BPF. */
#include <errno.h>
#include <stdlib.h>

#include "verdict/budget_since.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/comparison.h"
#include "command/report_options.h"
#include "command/reporter.h"
#include "recording/past_reader.h"
#include "recording/reader.h"
#include "recording/timeline_reader.h"
#include "render/render.h"

static const struct symbol_list *report_lookup(void *context, const struct frame *frame)
{
	return reader_lookup(context, frame);
}

static const char *report_hint(void *context, const struct frame *frame)
{
	return reader_hint(context, frame);
}

/* The interval that `text` names; NULL = the last one. */
static int report_find(struct reader *reader, const char *text, uint64_t *ret_interval,
		       struct error *error)
{
	struct moment moment = { .kind = MOMENT_LAST };

	if (text)
		moment = reader_parse_moment(text);
	return reader_find(reader, &moment, ret_interval, error);
}

static int report_load(struct reader *reader, const char *text, struct snapshot **ret_snapshot,
		       struct error *error)
{
	uint64_t interval;
	int code = report_find(reader, text, &interval, error);

	return code ? code : reader_load(reader, interval, ret_snapshot, error);
}

/* What was in use at all intervals until then, for a format that shows it, or what it was at most. */
static int report_load_timeline(struct reporter *reporter, struct reader *reader,
				const struct options *options, const struct snapshot *snapshot,
				struct timeline *timeline, struct error *error)
{
	uint64_t last;
	int code;

	/* What was in use at most is no figure of windows, which show growth. */
	if (!options->format->timeline && (options->level != LOG_VERBOSE || snapshot->budget))
		return 0;
	reporter->timeline = timeline;
	code = report_find(reader, options->at, &last, error);
	if (code)
		return code;
	return timeline_reader_read(reader, last, options->min_age_ns || options->survived,
				    timeline, error);
}

static bool report_begin_moment(void *context, uint64_t time_ns)
{
	return history_begin(context, time_ns);
}

static void report_set_site(void *context, uint64_t key, const struct site_stats *stats)
{
	history_set(context, key, stats);
}

static void report_end_moment(void *context)
{
	history_end(context);
}

/* What was before is what verdicts are found by. */
static int report_load_history(struct reporter *reporter, struct reader *reader,
			       const struct options *options, const struct snapshot *snapshot,
			       struct error *error)
{
	const struct past_sink sink = { report_begin_moment, report_set_site, report_end_moment,
					&reporter->history };
	uint64_t last;
	int code;

	/* Windows of --budget have verdicts of their own. */
	if (snapshot->budget)
		return 0;
	reporter->is_judged = past_reader_is_known(reader);
	if (!reporter->is_judged && (options->sort == SORT_LEAK || options->fail_on_leak))
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "%s needs verdicts, and this recording has none: the tracer that "
				 "made it did not record how long blocks live; make a new one",
				 options->fail_on_leak ? "--fail-on-leak" : "-s leak");
	if (!reporter->is_judged) {
		log_write(reporter->log, LOG_NOTICE,
			  "there are no verdicts: the tracer that made this recording did not "
			  "record how long blocks live");
		return 0;
	}
	reporter->history.step_ns = reader->interval_ns;
	code = report_find(reader, options->at, &last, error);
	return code ? code : past_reader_read(reader, last, &sink, error);
}

/* What sites have gained is estimated of two moments of one trace, the earlier one first. */
static int report_load_base(struct reporter *reporter, struct reader *reader,
			    const struct options *options, const struct snapshot *snapshot,
			    struct snapshot **ret_base, struct error *error)
{
	int code;

	if (!options->from)
		return 0;
	code = report_load(reader, options->from, ret_base, error);
	if (code)
		return code;
	if (snapshot->budget && (!(*ret_base)->budget ||
				 !budget_since_is_of_one((*ret_base)->budget, snapshot->budget)))
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the moment of --from is not before the one that is shown: what "
				 "estimates of --budget have grown by is not known backwards");
	reporter_set_base(reporter, *ret_base);
	return 0;
}

static int report_write(struct reporter *reporter, struct reader *reader,
			const struct options *options, struct error *error)
{
	struct timeline timeline = { 0 };
	struct snapshot *snapshot, *base = NULL;
	int code = report_load(reader, options->at, &snapshot, error);

	if (code)
		return code;
	code = report_load_base(reporter, reader, options, snapshot, &base, error);
	if (!code)
		code = report_load_timeline(reporter, reader, options, snapshot, &timeline, error);
	if (!code)
		code = report_load_history(reporter, reader, options, snapshot, error);
	if (!code)
		code = reporter_open(reporter, options, NULL, 0, error);
	if (!code)
		code = reporter_write(reporter, snapshot, error);
	snapshot_free(snapshot);
	snapshot_free(base);
	timeline_free(&timeline);
	return code;
}

/* What differs from --base: as `tracer diff` of both. */
static int report_run_difference(const struct options *options, const struct log *log)
{
	char *name = options->at ? memory_format("%s@%s", options->recording, options->at)
				 : memory_copy_string(options->recording);
	struct comparand comparands[2] = { 0 };
	struct error error = { 0 };
	int status;

	comparand_set(&comparands[1], name, options->recording, options->at);
	if (comparand_parse_base(&comparands[0], options->base, options->recording, &error))
		status = command_fail(log, &error);
	else
		status = comparison_run(comparands, 2, options, log);
	comparand_close(&comparands[0]);
	comparand_close(&comparands[1]);
	free(name);
	return status;
}

static int report_run(const struct options *options, const struct log *log)
{
	struct reader reader = { 0 };
	struct options wanted = *options;
	struct reporter reporter = {
		.options = &wanted,
		.log = log,
		.names = { .lookup = report_lookup, .context = &reader, .hint = report_hint },
		.output.fd = -1
	};
	struct error error = { 0 };
	int code;

	if (options->base)
		return report_run_difference(options, log);
	output_ignore_signals();
	code = reader_open(&reader, options->recording, &error);
	wanted.min_age_ns = reader.min_age_ns;
	wanted.survived = reader.survived;
	if (!code)
		code = report_write(&reporter, &reader, &wanted, &error);
	if (reporter_close(&reporter, &error) && !code)
		code = -EIO;
	reader_close(&reader);
	if (code && code != -EPIPE)
		return command_fail(log, &error);
	return exit_status_of(&(struct exit_facts){ .finding = reporter_finding(&reporter) });
}

const struct command command_report = {
	.name = "report",
	.summary = "print what was in use at a moment of a recording",
	.options = report_options,
	.arguments = report_options_arguments,
	.check = report_options_check,
	.run = report_run,
};
