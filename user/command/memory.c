/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer memory`: where the memory of processes is, looked at from outside. Attaches nothing, stops nothing. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verdict/memory_growth.h"
#include "verdict/memory_verdict.h"
#include "base/clock.h"
#include "base/memory.h"
#include "command/candidates.h"
#include "command/command.h"
#include "command/confine.h"
#include "command/held_pids.h"
#include "command/memory_members.h"
#include "command/memory_options.h"
#include "command/output_choice.h"
#include "command/progress.h"
#include "command/trace_options.h"
#include "memory/memory_kernel.h"
#include "memory/memory_look.h"
#include "memory/memory_since.h"
#include "memory/memory_sum.h"
#include "render/memory.h"
#include "system/end_signals.h"
#include "system/privilege.h"
#include "system/proc.h"

/* Beside the target, which goes first. Waits for a CPU put the end of a look off. */
#define NICE_VALUE 19

/* Of several processes, a look at one takes no more than such a part of the time that is left. */
#define PARTS_MIN 4

struct memory_run {
	const struct options *options;
	const struct log *log;
	struct pid_list processes;
	struct held_pids held; /* those of the options */
	struct output output;
	bool color;
	uint64_t looked_ns; /* when the last look began; 0 = there was none */
	struct memory_report before; /* of the look before, or of --since */
	struct memory_kept *kept; /* of one process, with INTERVAL; else NULL */
	struct end_signals *end_signals;
	struct name_reader *names;
	bool is_last; /* the end was asked for before the last look was over */
	uint64_t written;
};

/* Manners */

static void memory_on_stage(const char *name)
{
	progress_set("looking at %s", name);
}

static void memory_take_back_seat(const struct options *options, const struct log *log)
{
	const struct rlimit memory_limit = { options->max_memory, options->max_memory };

	setpriority(PRIO_PROCESS, 0, NICE_VALUE);
	if (!setrlimit(RLIMIT_DATA, &memory_limit))
		memory_name_limit("--max-memory");
	progress_open(log);
	output_ignore_signals();
}

/* Looking */

static int memory_compare_members(const void *a, const void *b)
{
	const struct memory_process *left = a, *right = b;

	if (left->pss_bytes != right->pss_bytes)
		return left->pss_bytes > right->pss_bytes ? -1 : 1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

/* None of several may take the time of all: when the look at one of `left` ends. */
static uint64_t memory_share_time(uint64_t until_ns, size_t left)
{
	uint64_t now_ns = clock_now_ns();

	if (until_ns <= now_ns)
		return until_ns;
	return now_ns + (until_ns - now_ns) / (left < PARTS_MIN ? left : PARTS_MIN);
}

/* After its end, its pid may have been another process's. */
static int memory_look_at_one(const struct memory_run *run, const struct memory_wanted *wanted,
			      struct memory_report *report, struct error *error)
{
	pid_t pid = run->processes.pids[0];
	int code = memory_look(pid, wanted, report, error);
	const struct held_pid *ended = code ? NULL : held_pids_ended(&run->held, pid);

	if (ended)
		return error_set(error, ERROR_TARGET, -ESRCH, "process %d (%s) has ended", pid,
				 ended->comm);
	return code;
}

/* Each of several; one that has ended meanwhile is left out. */
static int memory_look_at_all(const struct memory_run *run, const struct memory_wanted *wanted,
			      struct memory_report *report, struct error *error)
{
	struct memory_remarks remarks = { 0 };
	size_t i;

	for (i = 0; i < run->processes.count; i++) {
		struct memory_report one = { 0 };
		struct error refused = { 0 };
		struct memory_wanted own = *wanted;
		int code;

		/* What is followed is one process's. */
		own.kept = NULL;
		own.until_ns = memory_share_time(wanted->until_ns, run->processes.count - i);
		code = memory_look(run->processes.pids[i], &own, &one, &refused);

		if (held_pids_ended(&run->held, run->processes.pids[i]))
			; /* it may have been another one */
		else if (!code)
			memory_sum_add(report, &one, &remarks);
		else if (refused.kind != ERROR_TARGET || code == -ESTALE)
			memory_report_remark(report, "%s.", refused.text);
		memory_report_free(&one);
	}
	memory_remarks_finish(&remarks, report);
	if (!report->member_count)
		return error_set(error, ERROR_TARGET, -ESRCH,
				 "none of %zu process%s could be looked at%s%s",
				 run->processes.count, run->processes.count == 1 ? "" : "es",
				 report->remarks.length ? ": " : "",
				 report->remarks.length ? report->remarks.data : "");
	qsort(report->members, report->member_count, sizeof(*report->members),
	      memory_compare_members);
	memory_kernel_read_groups(report);
	return 0;
}

static int memory_take_report(struct memory_run *run, struct memory_report *report,
			      struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	uint64_t wait_ns = run->options->objects ? run->options->wait_ns : 0;
	const struct memory_wanted wanted = { .until_ns = begin_ns + run->options->deadline_ns +
							  wait_ns,
					      .is_over = end_signals_are_urgent,
					      .on_stage = memory_on_stage,
					      .objects = run->options->objects,
					      .samples = run->options->samples,
					      .huge_pages = run->options->huge_pages,
					      .holders = run->options->holders,
					      .wait_ns = wait_ns,
					      .names = run->names,
					      .kept = run->kept };
	int code;

	progress_begin("looking at the process");
	if (run->processes.count == 1)
		code = memory_look_at_one(run, &wanted, report, error);
	else
		code = memory_look_at_all(run, &wanted, report, error);
	progress_end();
	run->is_last = end_signals_are_pending();
	if (code)
		return code;
	report->group.asked = run->options->cgroup || run->options->container || run->options->unit;
	if (run->looked_ns && !report->executed)
		report->since_ns = begin_ns - run->looked_ns;
	else if (run->options->since && !run->looked_ns)
		code = memory_since_compare(report, &run->before, error);
	if (code)
		return code;
	if (report->since_ns)
		memory_growth_find(report, &run->before);
	if (run->looked_ns)
		memory_members_compare(report, &run->before);
	run->looked_ns = begin_ns;
	memory_verdict_find(report);
	return 0;
}

/* Reports */

static int memory_write_report(struct memory_run *run, const struct memory_report *report,
			       struct error *error)
{
	const struct options *options = run->options;
	struct render_memory_options style = { .base = { .color = run->color,
							 .verbose = options->level == LOG_VERBOSE,
							 .paths = options->paths },
					       .top = options->top < SIZE_MAX ? (size_t)options->top
									      : 0 };
	struct buffer text = { 0 };
	int code;

	output_size(&run->output, getenv("COLUMNS"), &style.base.columns, &style.base.lines);
	if (run->written++ && memory_options_is_text(options))
		buffer_append_string(&text, "\n");
	options->format->render_memory(report, &style, &text);
	code = output_write(&run->output, &text, error);
	buffer_free(&text);
	return code;
}

static int memory_report_once(struct memory_run *run, struct error *error)
{
	struct memory_report report = { 0 };
	int code = run->looked_ns ? memory_members_list(run->options, &run->held, &run->before,
							&run->processes, error)
				  : 0;

	if (!code)
		code = memory_take_report(run, &report, error);
	if (!code)
		code = memory_write_report(run, &report, error);
	memory_report_free(&run->before);
	run->before = report;
	return code;
}

/* A signal that asks for the end ends the wait. */
static void memory_sleep_until(uint64_t until_ns)
{
	struct timespec left;
	uint64_t now_ns;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, end_signals_number());
	while ((now_ns = clock_now_ns()) < until_ns && !end_signals_are_pending()) {
		left = clock_timespec(until_ns - now_ns);
		/* It stays pending, for who asks whether it has come. */
		if (sigtimedwait(&set, NULL, &left) > 0)
			raise(end_signals_number());
	}
}

/*
 * The end of the target ends the reports, and is an error only before the first one. A signal that asks for the end gives the last
 * one, unless it has come during a look: then that was the last.
 */
static int memory_report_all(struct memory_run *run, struct error *error)
{
	const struct options *options = run->options;
	struct error ended = { 0 };
	int code = memory_report_once(run, error);

	while (!code && options->interval_ns && !run->is_last &&
	       (!options->count || run->written < options->count)) {
		memory_sleep_until(run->looked_ns + options->interval_ns);
		code = memory_report_once(run, &ended);
	}
	if (run->written && ended.kind == ERROR_TARGET)
		log_write(run->log, LOG_NOTICE, "%s", ended.text);
	if (code == -EPIPE || (run->written && ended.kind == ERROR_TARGET))
		return 0;
	if (ended.kind != ERROR_NONE)
		return error_set(error, ended.kind, code, "%s", ended.text);
	return code;
}

/* Life */

static int memory_run_command(const struct options *options, const struct log *log)
{
	struct memory_run run = { .options = options, .log = log, .output = OUTPUT_STDOUT };
	const unsigned int user = privileges_unused_user();
	struct buffer earlier = { 0 };
	struct error error = { 0 };
	int code = proc_check("/proc", getpid(), &error);

	if (!code)
		code = end_signals_open(ERROR_PERMISSION, &run.end_signals, &error);
	if (!code)
		code = candidates_find(options, &run.processes, &error);
	if (!code)
		held_pids_open(&run.held, options->pids, options->pid_count);
	if (!code && options->since)
		code = memory_since_read(options->since, &earlier, &error);
	if (!code)
		code = output_choice_open(&run.output, options, run.processes.pids,
					  run.processes.count, &run.color, &error);
	if (!code) {
		run.names = name_reader_new(end_signals_are_urgent);
		end_signals_drop_privileges(run.end_signals, user);
		memory_take_back_seat(options, log);
		if (options->interval_ns && run.processes.count == 1)
			run.kept = memory_kept_new();
		/* What is decoded is what the target has put there. */
		confine_tracer(BACKEND_KERNEL_PERF, false, user, log);
		if (options->since)
			code = memory_since_parse(&earlier, &run.before, &error);
		if (!code)
			code = memory_report_all(&run, &error);
	}
	if (output_close(&run.output, &error) && !code)
		code = -EIO;
	buffer_free(&earlier);
	name_reader_free(run.names);
	memory_report_free(&run.before);
	memory_kept_free(run.kept);
	held_pids_close(&run.held);
	pid_list_free(&run.processes);
	return code ? command_fail(log, &error) : 0;
}

const struct command command_memory = {
	.name = "memory",
	.summary = "print where a process's memory is; attach nothing",
	.options = memory_options,
	.arguments = trace_options_arguments,
	.writes = memory_options_writes,
	.check = memory_options_check,
	.run = memory_run_command,
};
