/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See finder.h. */
#include "command/finder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group.h"
#include "analyze/leak_rows.h"
#include "analyze/leak_rules.h"
#include "analyze/leak_stacks.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "command/command.h"
#include "command/memory_options.h"
#include "command/naming.h"
#include "command/output_choice.h"
#include "command/progress.h"
#include "command/reporter.h"
#include "recording/json_file.h"
#include "render/leaks.h"
#include "system/thread_calls.h"

#define MS_NS 1000000
#define GAP_NS 100000000ull /* between two passes */
#define BASE_MEMORY (16ull << 20) /* of the tracer, however few blocks there are */

static bool finder_read_registers(void *context, struct thread_registers_list *list)
{
	const struct finder *finder = context;

	if (finder->iterator && thread_iterator_read(finder->iterator, list))
		return true;
	list->count = 0;
	list->is_whole = false;
	thread_calls_read("/proc", finder->pid, list);
	return list->count > 0;
}

static uint64_t finder_find_site(void *context, uint64_t address, uint64_t size)
{
	const struct finder *finder = context;

	return session_find_site(finder->session, finder->pid, address, size);
}

/* A block that was filtered out is not recorded, and leaves no trace. */
static bool finder_saw_no_call(void *context)
{
	const struct finder *finder = context;
	struct snapshot *snapshot;
	bool saw_none;

	if (finder->options->min_size || finder->options->max_size != UINT64_MAX ||
	    !session_is_stopped(finder->session) || !session_covers(finder->session, finder->pid) ||
	    session_snapshot(finder->session, &snapshot))
		return false;
	saw_none = snapshot_saw_no_call(snapshot, finder->pid);
	snapshot_free(snapshot);
	return saw_none;
}

static int finder_read_suppressions(struct finder *finder, const char *name, struct error *error)
{
	struct buffer text = { 0 };
	int code;

	if (*name == '@')
		return suppressions_add_preset(&finder->suppressions, name + 1, error);
	code = json_file_read(name, SUPPRESSIONS_MAX, "file of --suppressions", &text, error);
	if (!code && text.length && strlen(text.data) != text.length)
		code = error_set(error, ERROR_USAGE, -EINVAL, "'%s' is no text", name);
	if (!code && text.length)
		code = suppressions_parse(&finder->suppressions, text.data, name, error);
	buffer_free(&text);
	return code;
}

/* What is there stays until the look has succeeded. */
static int finder_open_save(struct finder *finder, const char *path, struct error *error)
{
	int code = strcmp(path, "-") != 0 ? file_swap_open(&finder->swap, path, error)
					  : output_open(&finder->save, path, error);

	if (finder->swap.fd >= 0)
		finder->save = (struct output){ finder->swap.fd, memory_copy_string(path) };
	return code;
}

int finder_open(struct finder *finder, const struct options *options, pid_t pid,
		const struct log *log, struct error *error)
{
	int code = 0;
	size_t i;

	finder->options = options;
	finder->save = (struct output){ .fd = -1 };
	finder->swap = FILE_SWAP_NONE;
	finder->pause = WATCHDOG_NONE;
	finder->log = log;
	finder->pid = pid;
	for (i = 0; i < options->suppression_count && !code; i++)
		code = finder_read_suppressions(finder, options->suppressions[i], error);
	if (!code && options->leaks_since)
		code = json_file_read(options->leaks_since, LEAK_STATE_MAX, "file of --since",
				      &finder->before, error);
	if (!code && options->save)
		code = finder_open_save(finder, options->save, error);
	if (!code)
		code = output_choice_open(&finder->output, finder->options, &finder->pid, 1,
					  &finder->color, error);
	if (!code && options->pause)
		code = watchdog_start(&finder->pause, pid, (int)(options->max_pause_ns / MS_NS),
				      error);
	if (code)
		return code;
	if (thread_iterator_open(pid, LEAKS_REGISTER_READS, &finder->iterator))
		log_write(log, LOG_VERBOSE, "the kernel does not show the registers of threads");
	return 0;
}

/* Writing */

static const struct symbol_list *finder_know_no_name(void *context, const struct frame *frame)
{
	static const struct symbol_list none;

	(void)context, (void)frame;
	return &none;
}

/* Without a trace no frame needs a name: those of rows have theirs. */
static struct report_names finder_names(const struct finder *finder)
{
	const struct report_names none = { .lookup = finder_know_no_name };

	return finder->symbolizer ? naming_of(finder->symbolizer) : none;
}

/* Formats of reports: groups are sites, and what is lost is in use. */
static void finder_render_rows(const struct finder *finder, const struct leak_report *report,
			       const struct snapshot *traced, const struct render_options *style,
			       struct buffer *out)
{
	const struct options *options = finder->options;
	const struct report_names names = finder_names(finder);
	struct snapshot *snapshot = leak_rows_build(report, traced);
	struct report_options wanted = { .sort = SORT_INUSE,
					 .only_held = true,
					 .is_lost = true,
					 .lost_traced_ns = report->traced_ns,
					 .lines = options->format->page,
					 .judge = judge_new(snapshot, &options->rules, &names) };
	struct grouped *grouped =
		group_build(snapshot, GROUP_BY_STACK, style->verbose, wanted.judge);
	struct report *rows = report_build(&grouped->snapshot, &wanted, &names);

	options->format->render(rows, style, out);
	report_free(rows);
	group_free(grouped);
	judge_free(wanted.judge);
	snapshot_free(snapshot);
}

static int finder_write(struct finder *finder, const struct leak_report *report,
			const struct snapshot *traced, struct error *error)
{
	const struct options *options = finder->options;
	struct render_leaks_options style = {
		.base = { .color = finder->color,
			  .verbose = options->level == LOG_VERBOSE,
			  .paths = options->paths,
			  .frames = reporter_frames(options) },
		.top = options->top < SIZE_MAX ? (size_t)options->top : 0,
	};
	struct buffer text = { 0 };
	size_t i;
	int code;

	output_size(&finder->output, getenv("COLUMNS"), &style.base.columns, &style.base.lines);
	if (options->format->render_leaks)
		options->format->render_leaks(report, &style, &text);
	else
		finder_render_rows(finder, report, traced, &style.base, &text);
	for (i = 0; options->gen_suppressions && i < report->group_count; i++)
		suppression_describe(&report->groups[i], i + 1, &text);
	code = output_write(&finder->output, &text, error);
	buffer_free(&text);
	return code == -EPIPE ? 0 : code;
}

/* Blocks from before the trace, and those whose allocation was missed. */
static void finder_remark_unseen(struct leak_report *report)
{
	struct leak_sum unseen = { 0 };
	size_t i;

	for (i = 0; i < report->group_count; i++)
		if (!report->groups[i].site)
			leak_sum_add(&unseen, &report->groups[i].own);
	if (unseen.blocks)
		leak_report_remark(report,
				   "%llu block%s ha%s no stack: allocated before the trace, or "
				   "their allocation was not recorded.",
				   (unsigned long long)unseen.blocks, units_s(unseen.blocks),
				   unseen.blocks == 1 ? "s" : "ve");
}

/* Blocks whose stacks were more than the kernel's table had room for: no rule fits them. */
static void finder_remark_full(struct leak_report *report)
{
	struct leak_sum full = { 0 };
	size_t i;

	for (i = 0; i < report->group_count; i++)
		if (leak_rules_stack_is_unknown(&report->groups[i]))
			leak_sum_add(&full, &report->groups[i].own);
	if (full.blocks)
		leak_report_remark(
			report,
			"%llu block%s, %llu bytes, ha%s no stack: there were more stacks "
			"than the table has room for. With more of --max-stacks they have "
			"one; without, no rule for stacks leaves them out.",
			(unsigned long long)full.blocks, units_s(full.blocks),
			(unsigned long long)full.bytes, full.blocks == 1 ? "s" : "ve");
}

static void finder_remark_suppressed(const struct finder *finder, struct leak_report *report)
{
	size_t i;

	for (i = 0; i < finder->suppressions.count; i++) {
		const struct suppression *used = &finder->suppressions.items[i];

		if (used->sum.blocks)
			leak_report_remark(report, "Suppressed: %llu block%s, %llu bytes: %s",
					   (unsigned long long)used->sum.blocks,
					   units_s(used->sum.blocks),
					   (unsigned long long)used->sum.bytes, used->name);
	}
}

/* Suppressions may be of stacks with interpreters' own functions, as memcheck has them, or as a report shows them. */
static void finder_apply_rules(struct finder *finder, struct leak_report *report, bool by_module)
{
	const struct leak_rules rules = {
		.verdicts = finder->options->show ? finder->options->show : ~0u,
		.modules = finder->options->only_modules,
		.module_count = by_module ? finder->options->only_module_count : 0,
		.suppressions = &finder->suppressions
	};

	leak_rules_apply(&rules, report);
}

/* Is there a block for which the exit status is 1? */
static bool finder_sees_leaks(const struct finder *finder, const struct leak_report *report)
{
	unsigned int show = finder->options->show ? finder->options->show : 1u << LEAK_DEFINITE;

	if (report->who)
		return report->who->verdict == LEAK_DEFINITE ||
		       report->who->verdict == LEAK_INDIRECT;
	return (show & 1u << LEAK_DEFINITE && report->sums[LEAK_DEFINITE].blocks) ||
	       (show & 1u << LEAK_POSSIBLE && report->sums[LEAK_POSSIBLE].blocks);
}

/* What was recorded: the blocks that were found keep their sites as long as it goes on. */
static int finder_take_snapshot(struct finder *finder, struct leak_report *report,
				struct snapshot **ret_snapshot, struct error *error)
{
	const struct report_names names = finder_names(finder);
	int code;

	session_deactivate(finder->session);
	code = session_snapshot(finder->session, ret_snapshot);
	session_detach_begin(finder->session);
	if (code)
		return session_refuse_snapshot(code, error);
	report->is_traced = true;
	report->traced_ns = (*ret_snapshot)->time_ns - (*ret_snapshot)->start_ns;
	leak_stacks_fill(report, *ret_snapshot, true, &names);
	finder_apply_rules(finder, report, true);
	if (finder->options->level != LOG_VERBOSE) {
		leak_stacks_fill(report, *ret_snapshot, false, &names);
		finder_apply_rules(finder, report, false);
	}
	finder_remark_suppressed(finder, report);
	finder_remark_unseen(report);
	finder_remark_full(report);
	naming_complain(finder->symbolizer, finder->log);
	return 0;
}

/* If much of the heap was not understood, finding no lost block is no answer. */
static enum exit_finding finder_finding(const struct finder *finder,
					const struct leak_report *report)
{
	if (finder_sees_leaks(finder, report))
		return FINDING_FOUND;
	return report->heap_is_damaged && !report->who ? FINDING_UNJUDGED : FINDING_NOTHING;
}

static int finder_report(struct finder *finder, struct leak_report *report, struct error *error)
{
	struct snapshot *snapshot = NULL;
	int code = 0;

	if (finder->session) {
		symbolizer_begin_report(finder->symbolizer);
		code = finder_take_snapshot(finder, report, &snapshot, error);
	} else {
		finder_apply_rules(finder, report, false);
	}
	finder->finding = finder_finding(finder, report);
	if (finder->ending)
		ending_let_go(finder->ending, finder->session);
	if (!code)
		code = finder_write(finder, report, snapshot, error);
	if (finder->session)
		symbolizer_end_report(finder->symbolizer);
	if (snapshot)
		snapshot_free(snapshot);
	return code;
}

static bool finder_runs(const struct finder *finder)
{
	session_drain(finder->session);
	return session_traces(finder->session, finder->pid);
}

/* That a command cannot be stopped at its end is no failure of the tracer. */
static void finder_log_unseen(struct finder *finder)
{
	finder->finding = FINDING_UNJUDGED;
	log_write(finder->log, LOG_ERROR,
		  "not looked at: %s (process %d) was ended by a signal or by a system call of its "
		  "own, where it cannot be stopped: in the C library, exit() and _exit() end it. "
		  "Its memory has gone before it was looked at. 'tracer -- CMD' reports what it "
		  "had not freed then, and -d TIME, shorter than it runs, looks earlier",
		  finder->options->arguments[0], finder->pid);
}

static int finder_refuse_ended(const struct finder *finder, struct error *error)
{
	return error_set(
		error, ERROR_TARGET, -ESRCH,
		"process %d ended before it had been looked at, and its memory has gone with "
		"it: -d TIME has to be over while it runs; a shorter TIME, or SIGINT to the "
		"tracer, ends it earlier",
		finder->pid);
}

static void finder_on_pass(unsigned int number)
{
	progress_set("looking for lost blocks, pass %u", number);
}

static int finder_save(struct finder *finder, const struct leak_state *state, struct error *error)
{
	struct buffer bytes = { 0 };
	int code;

	leak_state_write(state, &bytes);
	code = output_write(&finder->save, &bytes, error);
	buffer_free(&bytes);
	if (code)
		return code;
	code = file_swap_commit(&finder->swap);
	if (code)
		error_set(error, ERROR_PERMISSION, code, "cannot write to '%s': %s",
			  finder->options->save, strerror(-code));
	return code;
}

/* Look, write what was found, and keep the blocks for a later look. */
static int finder_look(struct finder *finder, struct leaks_wanted *wanted, struct error *error)
{
	struct leak_state before = { 0 }, now = { 0 };
	struct leak_report report = { 0 };
	int code = 0;

	if (finder->options->leaks_since) {
		code = leak_state_read(&finder->before, finder->options->leaks_since, &before,
				       error);
		wanted->before = &before;
	}
	if (finder->options->save)
		wanted->ret_state = &now;
	if (!code) {
		progress_begin("looking for lost blocks");
		code = leaks_look(wanted, &report, error);
		progress_end();
	}
	if (!code && finder->options->save)
		code = finder_save(finder, &now, error);
	leak_state_free(&before);
	leak_state_free(&now);
	if (!code)
		code = finder_report(finder, &report, error);
	leak_report_free(&report);
	return code;
}

int finder_run(struct finder *finder, bool (*is_over)(void), struct error *error)
{
	struct leak_who who = { .asked = finder->options->who };
	struct leaks_wanted wanted = {
		.pid = finder->pid,
		.until_ns = clock_now_ns() + finder->options->deadline_ns,
		.max_memory = finder->options->max_memory / 8 * 7 - BASE_MEMORY,
		.gap_ns = GAP_NS,
		.heuristics = finder->options->heuristics,
		.is_over = is_over,
		.on_pass = finder_on_pass,
		.names = finder->names,
		.registers = finder_read_registers,
		.find_site = finder->session ? finder_find_site : NULL,
		.saw_no_call = finder->session ? finder_saw_no_call : NULL,
		.context = finder,
		.is_ending = finder->session && session_is_stopped(finder->session),
		.pause = finder->options->pause ? &finder->pause : NULL,
		.max_pause_ns = finder->options->max_pause_ns,
		.who = who.asked ? &who : NULL,
	};
	struct error refused = { 0 };
	int code = finder_look(finder, &wanted, &refused);

	leak_who_free(&who);
	if (code && is_over())
		return error_set(error, ERROR_PERMISSION, code,
				 "a signal has ended the look before there was a result");
	if (!code)
		return 0;
	if (!finder->session || refused.kind != ERROR_TARGET || finder_runs(finder))
		return error_set(error, refused.kind, code, "%s", refused.text);
	if (!finder->options->arguments)
		return finder_refuse_ended(finder, error);
	finder_log_unseen(finder);
	return 0;
}

int finder_close(struct finder *finder, struct error *error)
{
	int code = 0;

	if (finder->options && finder->options->pause)
		watchdog_close(&finder->pause);
	thread_iterator_free(finder->iterator);
	name_reader_free(finder->names);
	finder->iterator = NULL;
	finder->names = NULL;
	suppressions_free(&finder->suppressions);
	buffer_free(&finder->before);
	/* Until it is opened, 0 is not a descriptor of its own. */
	if (finder->options) {
		code = output_close(&finder->save, error);
		file_swap_close(&finder->swap);
	}
	return output_close(&finder->output, error) ? -EIO : code;
}
