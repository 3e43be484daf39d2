/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See kernel_trace.h. There is no process to follow and none to harm, so this is a smaller loop than that of trace.c: signals, times,
 * and the reader of the reports.
 */
#include "command/kernel_trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "command/command.h"
#include "command/confine.h"
#include "command/reporter.h"
#include "command/schedule.h"
#include "command/table_limits.h"
#include "kernel/kernel_programs.h"
#include "session/kernel_memory.h"
#include "system/end_signals.h"
#include "system/kallsyms.h"
#include "system/loop.h"
#include "system/privilege.h"
#include "system/proc.h"

#define FIRST_PID_NAMESPACE 4026531836UL /* its inode, on all kernels */

/* The tables take their memory at once: fewer than for processes, whose stacks are of many programs. */
#define STACKS_DEFAULT 16384

/* Innermost frames are of the tracing itself: so many more are asked for. */
#define TRACING_FRAMES 10

struct kernel_trace {
	const struct options *options;
	const struct log *log;
	struct end_signals *end_signals;
	struct target *targets; /* owned */
	size_t target_count;
	struct kernel_programs *programs;
	struct kallsyms *symbols;
	struct kernel_memory *memory;
	struct reporter reporter;
	struct recorder *recorder; /* NULL = the reporter writes reports */
	struct schedule schedule;
	struct loop loop;
	struct watch on_signal, on_history, on_pipe;
	bool closed; /* the reports have no reader any more */
	struct error error;
};

/* Reports */

static int kernel_trace_snapshot(struct kernel_trace *trace, struct snapshot **ret_snapshot)
{
	int code = kernel_memory_snapshot(trace->memory, clock_now_ns(), ret_snapshot);

	if (code)
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "cannot read the counters from the kernel: %s", strerror(-code));
	kernel_programs_losses(trace->programs, (*ret_snapshot)->loss);
	return 0;
}

static int kernel_trace_report(struct kernel_trace *trace, bool last)
{
	struct snapshot *snapshot;
	int code;

	if (last)
		kernel_programs_record(trace->programs, RECORD_NOTHING);
	if (trace->recorder)
		recorder_sees_mark(trace->recorder);
	code = kernel_trace_snapshot(trace, &snapshot);
	if (code)
		return code;
	trace->reporter.is_last = last;
	if (trace->recorder)
		code = recorder_write(trace->recorder, snapshot, &trace->error);
	else
		code = reporter_write(&trace->reporter, snapshot, &trace->error);
	snapshot_free(snapshot);
	if (code == -EPIPE)
		trace->closed = true;
	return code;
}

/* A report on the way. One that fails ends the tracer. */
static void kernel_trace_report_now(void *context)
{
	struct kernel_trace *trace = context;

	if (kernel_trace_report(trace, false))
		loop_stop(&trace->loop);
}

/* Events */

static void kernel_trace_on_signal(void *context, struct watch *watch)
{
	struct kernel_trace *trace = context;
	int number = loop_take_signal(watch->fd);

	if (number == SIGUSR2)
		trace->recorder->is_marked = true;
	if (number == SIGUSR1 || number == SIGUSR2)
		kernel_trace_report_now(trace);
	/* It stays pending, for who waits for the reader of the last report. */
	if (number == end_signals_number() && !raise(number))
		loop_stop(&trace->loop);
}

static void kernel_trace_on_asked(void *context, struct watch *watch)
{
	struct kernel_trace *trace = context;

	if (recorder_is_asked(trace->recorder, &trace->loop, watch))
		kernel_trace_report_now(trace);
}

static void kernel_trace_on_history(void *context, struct watch *watch)
{
	struct kernel_trace *trace = context;

	if (loop_take_ticks(watch->fd))
		kernel_memory_keep_history(trace->memory, clock_now_ns(), &trace->reporter.history);
}

static void kernel_trace_on_pipe(void *context, struct watch *watch)
{
	struct kernel_trace *trace = context;

	(void)watch;
	trace->closed = true;
	loop_stop(&trace->loop);
}

static int kernel_trace_watch(struct kernel_trace *trace, struct watch *watch, int fd,
			      void (*handle)(void *context, struct watch *watch))
{
	int code;

	*watch = (struct watch){ .fd = fd, .handle = handle, .context = trace };
	code = fd < 0 ? fd : loop_add(&trace->loop, watch);
	return code ? error_set(&trace->error, ERROR_PERMISSION, code,
				"cannot wait for signals and times: %s", strerror(-code))
		    : 0;
}

static int kernel_trace_watch_all(struct kernel_trace *trace)
{
	const struct options *options = trace->options;
	int code;

	if (trace->recorder)
		recorder_start(trace->recorder, &trace->loop, kernel_trace_on_asked, trace);
	trace->schedule.report = kernel_trace_report_now;
	trace->schedule.context = trace;
	code = schedule_start(&trace->schedule, options, 0, &trace->loop);
	if (code)
		return error_set(&trace->error, ERROR_PERMISSION, code, "cannot create a timer: %s",
				 strerror(-code));
	if (trace->reporter.is_judged)
		code = kernel_trace_watch(trace, &trace->on_history,
					  loop_open_timer(HISTORY_SPACING_NS, HISTORY_SPACING_NS),
					  kernel_trace_on_history);
	if (code || trace->recorder)
		return code;
	/* Fails where the output is no pipe and cannot break: then there is nothing to watch. */
	trace->on_pipe = (struct watch){ .fd = trace->reporter.output.fd,
					 .handle = kernel_trace_on_pipe,
					 .context = trace };
	loop_add_broken(&trace->loop, &trace->on_pipe);
	return 0;
}

/* Life */

static int kernel_trace_open_loop(struct kernel_trace *trace)
{
	const int signals[] = { end_signals_number(), SIGUSR1, trace->recorder ? SIGUSR2 : 0, 0 };
	int code = loop_open(&trace->loop, &trace->error);

	if (!code)
		code = proc_check("/proc", getpid(), &trace->error);
	if (code)
		return code;
	output_ignore_signals();
	code = end_signals_open(ERROR_PERMISSION, &trace->end_signals, &trace->error);
	if (code)
		return code;
	return kernel_trace_watch(trace, &trace->on_signal, loop_open_signals(signals),
				  kernel_trace_on_signal);
}

/* BPF programs know processes by their ids in the first pid namespace: those of -p, and the tracer's own. */
static int kernel_trace_check_namespace(struct kernel_trace *trace)
{
	struct stat status;

	if (!stat("/proc/self/ns/pid", &status) && status.st_ino != FIRST_PID_NAMESPACE)
		return error_set(&trace->error, ERROR_PERMISSION, -ENOTSUP,
				 "--kernel does not work in a pid namespace of a container, since "
				 "the kernel has other numbers for its processes: run the tracer "
				 "on the host, or with the host's (podman run --pid=host)");
	return 0;
}

static int kernel_trace_find_targets(struct kernel_trace *trace)
{
	const struct options *options = trace->options;
	size_t i;
	int code;

	trace->target_count = options->pid_count ? options->pid_count : 1;
	trace->targets = memory_alloc(trace->target_count, sizeof(*trace->targets));
	trace->targets[0] = (struct target){ .comm = "kernel", .pidfd = -1 };
	for (i = 0; i < options->pid_count; i++) {
		struct target *target = &trace->targets[i];
		struct proc_status status;

		code = proc_read_status("/proc", options->pids[i], &status);
		if (code)
			return error_set(&trace->error, ERROR_TARGET, code,
					 "process %d cannot be traced: %s", options->pids[i],
					 code == -ESRCH || code == -ENOENT ? "there is none"
									   : strerror(-code));
		*target = (struct target){ .pid = options->pids[i], .pidfd = -1 };
		target->exe = proc_read_exe("/proc", options->pids[i]);
		memcpy(target->comm, status.comm, sizeof(target->comm));
	}
	return 0;
}

static int kernel_trace_open_programs(struct kernel_trace *trace)
{
	const struct options *options = trace->options;
	const struct table_limits limits = table_limits_find(options, trace->log);
	struct kernel_settings settings = { .max_blocks = limits.blocks,
					    .max_stacks = limits.stacks,
					    .stack_depth = options->stack_depth + TRACING_FRAMES,
					    .min_size = options->min_size,
					    .max_size = options->max_size,
					    .pids = options->pids,
					    .pid_count = options->pid_count };

	if (!options->max_stacks && settings.max_stacks > STACKS_DEFAULT)
		settings.max_stacks = STACKS_DEFAULT;
	if (settings.stack_depth > STACK_FRAMES_MAX)
		settings.stack_depth = STACK_FRAMES_MAX;
	return kernel_programs_open(&settings, &trace->programs, &trace->error);
}

/* After the programs, which are functions of the kernel, too. */
static int kernel_trace_open_symbols(struct kernel_trace *trace)
{
	int code = kallsyms_read("/proc/kallsyms", &trace->symbols);

	if (code == -EPERM)
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "the kernel hides its addresses, so its functions have no names: "
				 "CAP_SYSLOG is missing, or kernel.kptr_restrict is 2 (sysctl "
				 "kernel.kptr_restrict=1)");
	if (code)
		return error_set(&trace->error, ERROR_PERMISSION, code,
				 "/proc/kallsyms, which has the names of the kernel's functions, "
				 "cannot be read: %s",
				 strerror(-code));
	return 0;
}

static const struct symbol_list *kernel_trace_no_symbols(void *context, const struct frame *frame)
{
	(void)context, (void)frame;
	return NULL;
}

static int kernel_trace_open_writer(struct kernel_trace *trace)
{
	const struct options *options = trace->options;

	trace->reporter.log = trace->log;
	trace->reporter.is_judged = !trace->recorder;
	trace->reporter.names.lookup = kernel_trace_no_symbols;
	if (!trace->recorder)
		return reporter_open(&trace->reporter, options, options->pids, options->pid_count,
				     &trace->error);
	return recorder_open(trace->recorder, options, options->pids, options->pid_count,
			     &trace->error);
}

static int kernel_trace_open(struct kernel_trace *trace)
{
	int code = kernel_trace_open_loop(trace);

	if (!code)
		code = kernel_trace_check_namespace(trace);
	if (!code)
		code = kernel_trace_find_targets(trace);
	if (!code)
		code = kernel_trace_open_programs(trace);
	if (!code)
		code = kernel_trace_open_symbols(trace);
	if (!code)
		code = kernel_trace_open_writer(trace);
	return code;
}

/* Scripts wait for this line, so -q does not silence it. */
static void kernel_trace_print_ready(const struct kernel_trace *trace)
{
	const struct options *options = trace->options;
	const char *until = options->duration_ns || options->count ? "" : " until Ctrl-C";

	if (options->pid_count)
		log_write(trace->log, LOG_ERROR,
			  "ready: tracing what the kernel allocates for %zu process%s%s",
			  options->pid_count, options->pid_count == 1 ? "" : "es", until);
	else
		log_write(trace->log, LOG_ERROR, "ready: tracing the kernel's memory%s", until);
}

static int kernel_trace_start(struct kernel_trace *trace)
{
	const unsigned int user = privileges_unused_user();
	struct kernel_memory_options wanted;
	int code = kernel_trace_open(trace);

	if (code)
		return code;
	wanted = (struct kernel_memory_options){
		.maps = kernel_programs_maps(trace->programs),
		.symbols = trace->symbols,
		.targets = trace->targets,
		.target_count = trace->target_count,
		.min_age_ns = trace->options->min_age_ns,
		.marks = trace->recorder ? &trace->recorder->times : NULL,
	};
	end_signals_drop_privileges(trace->end_signals, user);
	confine_tracer(BACKEND_KERNEL_SESSION, false, user, trace->log);
	trace->memory = kernel_memory_new(&wanted);
	code = kernel_trace_watch_all(trace);
	if (code)
		return code;
	end_signals_set_begun();
	kernel_programs_record(trace->programs, RECORD_ALL);
	kernel_trace_print_ready(trace);
	return 0;
}

static void kernel_trace_close_watch(struct watch *watch)
{
	if (watch->fd > 0)
		close(watch->fd);
}

static void kernel_trace_close(struct kernel_trace *trace)
{
	size_t i;

	kernel_memory_free(trace->memory);
	kernel_programs_close(trace->programs);
	kallsyms_free(trace->symbols);
	for (i = 0; i < trace->target_count; i++)
		target_clear(&trace->targets[i]);
	free(trace->targets);
	kernel_trace_close_watch(&trace->on_signal);
	schedule_close(&trace->schedule);
	kernel_trace_close_watch(&trace->on_history);
	loop_close(&trace->loop);
}

static int kernel_trace_close_writer(struct kernel_trace *trace)
{
	if (trace->recorder)
		return recorder_close(trace->recorder, &trace->error);
	return reporter_close(&trace->reporter, &trace->error);
}

int kernel_trace_run(const struct options *options, const struct log *log,
		     struct recorder *recorder)
{
	struct kernel_trace trace = {
		.options = options, .log = log, .reporter.output.fd = -1, .recorder = recorder
	};
	int code = kernel_trace_start(&trace), status;

	if (!code)
		code = loop_run(&trace.loop);
	if (!code && !trace.closed && !trace.error.kind)
		kernel_trace_report(&trace, true);
	kernel_trace_close_writer(&trace);
	status = trace.error.kind ? command_fail(log, &trace.error)
				  : exit_status_of(&(struct exit_facts){
					    .finding = reporter_finding(&trace.reporter) });
	end_signals_set_done(status);
	kernel_trace_close(&trace);
	return status;
}
