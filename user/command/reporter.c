/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reporter.h. */
#include "command/reporter.h"

#include <errno.h>
#include <stdlib.h>

#include "verdict/budget_since.h"
#include "analyze/group.h"
#include "analyze/report.h"
#include "base/clock.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/naming.h"
#include "command/output_choice.h"
#include "command/progress.h"
#include "command/survived_notice.h"
#include "memory/memory_classes.h"
#include "memory/memory_look.h"
#include "render/render.h"
#include "system/end_signals.h"

/* A process with less memory is not looked into; and for how long one with more is. Times are longer on slow machines. */
#define LOOK_RSS_MIN (32ull << 20)
#define LOOK_NS 1000000000

/* Objects are counted of this many processes, for this long: at first, at the end, and between in such a part of the time. */
#define PROCESSES_MAX 4
#define COUNT_FIRST_NS 500000000
#define COUNT_LAST_NS 1000000000
#define COUNT_BETWEEN_NS 200000000
#define COUNT_BETWEEN_PART 100

/* What has grown in a runtime's heap, for one report. */
struct reporter_growth {
	bool asked, known;
	struct grown_classes classes;
};

struct reporter_process {
	pid_t pid;
	struct memory_classes *classes;
	struct reporter_growth ruby, python;
};

/* When a look that may take so long ends. */
static uint64_t reporter_until(uint64_t limit_ns)
{
	return clock_now_ns() + limit_ns * end_signals_slowness();
}

int reporter_open(struct reporter *reporter, const struct options *options, const int *pids,
		  size_t pid_count, struct error *error)
{
	reporter->options = options;
	return output_choice_open(&reporter->output, options, pids, pid_count, &reporter->color,
				  error);
}

/* What --survived leaves out without a judgement is no silent loss. */
static void reporter_notice_survived(const struct reporter *reporter,
				     const struct snapshot *snapshot)
{
	struct buffer text = { 0 };

	if (reporter->options->survived && survived_notice(snapshot, &text))
		log_write(reporter->log, LOG_NOTICE, "%s", text.data);
	buffer_free(&text);
}

/* A report on its way to the output. */
struct passage {
	const struct output *output;
	const struct reporter_room *room; /* in its place; NULL = none */
	struct error *error;
	int code; /* of the first write that failed */
};

static int reporter_keep(struct passage *passage, const struct buffer *text)
{
	const struct reporter_room *room = passage->room;

	if (text->length > room->most || room->out->length > room->most - text->length)
		return error_set(passage->error, ERROR_PERMISSION, -EFBIG,
				 "the report is larger than %zu bytes: -n/--top shows fewer sites",
				 room->most);
	if (text->length)
		buffer_append(room->out, text->data, text->length);
	return 0;
}

static bool reporter_drain(void *context, struct buffer *out)
{
	struct passage *passage = context;

	if (!passage->code)
		passage->code = passage->room ? reporter_keep(passage, out)
					      : output_write(passage->output, out, passage->error);
	buffer_clear(out);
	return !passage->code;
}

enum group_by reporter_by(const struct options *options)
{
	if (options->by == GROUP_BY_STACK &&
	    (options->level != LOG_VERBOSE || options->rules.hide.count))
		return GROUP_BY_SHOWN;
	return options->by;
}

size_t reporter_frames(const struct options *options)
{
	if (options->frames == OPTIONS_FRAMES_DEFAULT)
		return 0;
	return options->frames ? options->frames : RENDER_FRAMES_ALL;
}

/* Programs rely on one order, whatever becomes of the process. */
static enum report_sort reporter_sort(const struct options *options)
{
	return options->sort == SORT_AUTO && !options->format->leaks_first ? SORT_INUSE
									   : options->sort;
}

/*
 * Where one process has far more memory than is in use: how much of it is free in malloc. Only text shows it. At the end, since a look at a
 * large heap takes time.
 */
static void reporter_look_inside(const struct reporter *reporter, struct report *report)
{
	const struct target *target = report->target_count == 1 ? report->targets[0] : NULL;
	uint64_t rss = target && target->usage.known && !target->exited ? target->usage.rss_bytes
									: 0;
	struct memory_malloc malloc;

	if (!reporter->is_last || !reporter->options->format->by_line || rss < LOOK_RSS_MIN ||
	    rss / 2 < site_stats_inuse_bytes(&report->totals) || end_signals_are_urgent())
		return;
	if (!memory_look_malloc(target->pid, reporter_until(LOOK_NS), &malloc))
		report->malloc_free_bytes = malloc.free;
}

void reporter_count_objects(struct reporter *reporter, pid_t pid)
{
	struct memory_classes *classes;
	size_t i;

	/* A watch that goes over to all calls adds its processes again. */
	for (i = 0; i < reporter->process_count; i++)
		if (reporter->processes[i].pid == pid)
			return;
	if (reporter->process_count == PROCESSES_MAX)
		return;
	classes = memory_classes_count(pid, reporter_until(COUNT_FIRST_NS));
	if (!classes)
		return;
	reporter->processes = memory_grow(reporter->processes, reporter->process_count,
					  &reporter->process_capacity,
					  sizeof(reporter->processes[0]));
	reporter->processes[reporter->process_count++] =
		(struct reporter_process){ .pid = pid, .classes = classes };
}

static void reporter_forget_growth(struct reporter_growth *growth)
{
	memory_growth_free_classes(&growth->classes);
	*growth = (struct reporter_growth){ 0 };
}

/* Count once for all rows of a process. */
static const struct grown_classes *reporter_find_growth(const struct reporter *reporter,
							struct reporter_process *process,
							bool is_ruby)
{
	struct reporter_growth *growth = is_ruby ? &process->ruby : &process->python;
	uint64_t limit_ns = reporter->is_last ? COUNT_LAST_NS : COUNT_BETWEEN_NS;

	if (!growth->asked)
		growth->known = memory_classes_compare(process->classes,
						       is_ruby ? "ruby" : "python",
						       reporter_until(limit_ns), &growth->classes);
	growth->asked = true;
	return growth->known ? &growth->classes : NULL;
}

/* What a row's pages or arenas were filled with, if its process is still the one that was looked at before. */
static const struct grown_classes *reporter_find_classes(const struct reporter *reporter,
							 const struct report_site *site)
{
	bool is_ruby = site->region == REGION_RUBY_HEAP;
	size_t i;

	if ((!is_ruby && site->region != REGION_PYTHON_ARENA) || site->process_count > 1 ||
	    site->ended || site->target->exited || site->target->exec_ns)
		return NULL;
	for (i = 0; i < reporter->process_count; i++)
		if (reporter->processes[i].pid == site->pid)
			return reporter_find_growth(reporter, &reporter->processes[i], is_ruby);
	return NULL;
}

static bool reporter_has_counted(const struct reporter *reporter)
{
	size_t i;

	for (i = 0; i < reporter->process_count; i++)
		if (reporter->processes[i].ruby.asked || reporter->processes[i].python.asked)
			return true;
	return false;
}

/* A count takes time: only the last report has one whatever the last ones took. */
static void reporter_fill_objects(struct reporter *reporter, struct report *report)
{
	uint64_t begin_ns = clock_now_ns(), end_ns;
	size_t i;

	for (i = 0; i < reporter->process_count; i++) {
		reporter_forget_growth(&reporter->processes[i].ruby);
		reporter_forget_growth(&reporter->processes[i].python);
	}
	if ((!reporter->is_last && begin_ns < reporter->count_from_ns) || end_signals_are_urgent())
		return;
	for (i = 0; i < report->site_count; i++)
		report->sites[i].grown_classes = reporter_find_classes(reporter, &report->sites[i]);
	if (!reporter_has_counted(reporter))
		return;
	end_ns = clock_now_ns();
	reporter->count_from_ns = end_ns + (end_ns - begin_ns) * COUNT_BETWEEN_PART;
}

void reporter_set_base(struct reporter *reporter, const struct snapshot *snapshot)
{
	reporter->before = snapshot->budget;
	growth_keep(&reporter->base, snapshot,
		    reporter->options->min_age_ns || reporter->options->survived);
}

/* A watch writes only what has changed. */
static void reporter_render(struct reporter *reporter, const struct report *report,
			    const struct render_options *style, struct buffer *out)
{
	const struct render_format *format = reporter->options->format;

	if (reporter->watcher && !watcher_wants(reporter->watcher, reporter->is_last))
		return;
	if (reporter->written && !reporter->aside && !reporter->room && format->separator)
		buffer_append_string(out, format->separator);
	if (reporter->watcher)
		format->render_watch(report, style, out);
	else
		format->render(report, style, out);
	reporter->written += !reporter->aside && !reporter->room;
}

/* The options of a report of `snapshot`. The caller frees the judge. */
static struct report_options reporter_wanted(const struct reporter *reporter,
					     const struct snapshot *snapshot,
					     const struct budget_estimates *estimates)
{
	const struct options *options = reporter->options;

	return (struct report_options){
		.sort = reporter_sort(options),
		.top = options->top,
		.only_held = options->format->page || (options->schema == 2 && !options->empty),
		.without_young = options->min_age_ns || options->survived,
		.min_age_ns = options->min_age_ns,
		.survived = options->survived,
		.lines = options->format->by_line || options->format->page,
		.internal = options->level == LOG_VERBOSE,
		.base = &reporter->base,
		.estimates = estimates,
		.light = snapshot->light,
		.history = reporter->is_judged ? &reporter->history : NULL,
		.timeline = reporter->timeline,
		.judge = judge_new(snapshot, &options->rules, &reporter->names),
	};
}

/* The options of rendering for the destination of `passage`. */
static struct render_options reporter_style(const struct reporter *reporter,
					    struct passage *passage)
{
	const struct options *options = reporter->options;
	struct render_options style = { .schema = (int)options->schema,
					.color = reporter->color && !reporter->aside &&
						 !reporter->room,
					.frames = reporter_frames(options),
					.verbose = options->level == LOG_VERBOSE,
					.paths = options->paths,
					.drain = reporter_drain,
					.context = passage };

	output_size(passage->output, getenv("COLUMNS"), &style.columns, &style.lines);
	return style;
}

static enum exit_finding reporter_find(const struct options *options, const struct report *report)
{
	if (site_stats_inuse_bytes(&report->totals) > options->fail_over)
		return FINDING_FOUND;
	if (!options->fail_on_leak)
		return FINDING_NOTHING;
	if (report->leaks)
		return FINDING_FOUND;
	return report->unjudged && !report->judged ? FINDING_UNJUDGED : FINDING_NOTHING;
}

int reporter_write(struct reporter *reporter, struct snapshot *snapshot, struct error *error)
{
	struct budget_estimates *estimates = budget_estimates_new(snapshot->budget);
	struct report_options wanted = reporter_wanted(reporter, snapshot, estimates);
	struct passage passage = { .output = reporter->aside ? reporter->aside : &reporter->output,
				   .room = reporter->room,
				   .error = error };
	const struct render_options style = reporter_style(reporter, &passage);
	struct buffer text = { 0 };
	struct grouped *grouped;
	struct report *report;

	if (estimates)
		budget_estimates_apply(estimates, snapshot);
	if (estimates && reporter->before)
		budget_since_begin(estimates, reporter->before);
	if (reporter->watcher)
		watcher_prepare(reporter->watcher, snapshot, &wanted);
	if (reporter->symbolizer)
		symbolizer_begin_report(reporter->symbolizer);
	progress_begin("reading names");
	grouped = group_build(snapshot, reporter_by(reporter->options), wanted.internal,
			      wanted.judge);
	report = report_build(&grouped->snapshot, &wanted, &reporter->names);
	progress_end();
	if (reporter->symbolizer)
		report->loss[LOSS_FILES_WITHOUT_NAMES] += symbolizer_unread(reporter->symbolizer);
	reporter->finding = reporter_find(reporter->options, report);
	reporter_look_inside(reporter, report);
	reporter_fill_objects(reporter, report);
	growth_keep(&reporter->base, snapshot, wanted.without_young);
	if (reporter->symbolizer)
		naming_complain(reporter->symbolizer, reporter->log);
	reporter_notice_survived(reporter, snapshot);
	reporter_render(reporter, report, &style, &text);
	reporter_drain(&passage, &text);
	if (reporter->symbolizer)
		symbolizer_end_report(reporter->symbolizer);
	buffer_free(&text);
	report_free(report);
	group_free(grouped);
	judge_free(wanted.judge);
	budget_estimates_free(estimates);
	return passage.code;
}

enum exit_finding reporter_finding(const struct reporter *reporter)
{
	if (reporter->finding == FINDING_UNJUDGED)
		log_write(reporter->log, LOG_ERROR,
			  "--fail-on-leak: not judged: no row has a verdict yet: it takes 4 s of "
			  "tracing or more, and longer for memory that goes up and down: trace "
			  "longer");
	return reporter->finding;
}

int reporter_close(struct reporter *reporter, struct error *error)
{
	size_t i;

	for (i = 0; i < reporter->process_count; i++) {
		memory_classes_free(reporter->processes[i].classes);
		reporter_forget_growth(&reporter->processes[i].ruby);
		reporter_forget_growth(&reporter->processes[i].python);
	}
	free(reporter->processes);
	growth_free(&reporter->base);
	history_free(&reporter->history);
	return output_close(&reporter->output, error);
}

/* Names for a session */

static void reporter_look_up(void *context, const struct frame *frame)
{
	symbolizer_lookup(context, frame);
}

static void reporter_forget_module(void *context, uint32_t module)
{
	symbolizer_forget(context, module);
}

struct frame_namer reporter_names(const struct reporter *reporter)
{
	return (struct frame_namer){ .look_up = reporter_look_up,
				     .forget = reporter_forget_module,
				     .context = reporter->symbolizer };
}
