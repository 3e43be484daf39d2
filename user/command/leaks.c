/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer leaks`: which blocks of a process nothing points to any more. Attaches nothing, unless it is to trace before. Stops nothing. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "command/candidates.h"
#include "command/command.h"
#include "command/confine.h"
#include "command/finder.h"
#include "command/progress.h"
#include "command/leaks_options.h"
#include "command/trace.h"
#include "system/end_signals.h"
#include "system/privilege.h"
#include "system/proc.h"

struct leaks_command {
	const struct options *options;
	struct pid_list processes;
	struct finder finder;
	struct end_signals *end_signals;
};

static int leaks_find_process(const struct options *options, struct pid_list *ret_processes,
			      struct error *error)
{
	int code = candidates_find(options, ret_processes, error);

	if (!code && ret_processes->count != 1)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "'tracer leaks' looks at one process; %zu are selected: use -p",
				 ret_processes->count);
	return code;
}

/* All that needs a privilege or opens a file; then both are given up. */
static int leaks_prepare(struct leaks_command *command, const struct log *log, struct error *error)
{
	const unsigned int user = privileges_unused_user();
	const struct rlimit limit = { command->options->max_memory, command->options->max_memory };
	int code = proc_check("/proc", getpid(), error);

	if (!code)
		code = end_signals_open(ERROR_PERMISSION, &command->end_signals, error);
	if (!code)
		code = leaks_find_process(command->options, &command->processes, error);
	if (!code)
		code = finder_open(&command->finder, command->options, command->processes.pids[0],
				   log, error);
	if (code)
		return code;
	command->finder.names = name_reader_new(end_signals_are_pending);
	end_signals_drop_privileges(command->end_signals, user);
	/* No waiting for a CPU: the longer a pass takes, the more moves meanwhile. */
	if (!setrlimit(RLIMIT_DATA, &limit))
		memory_name_limit("--max-memory");
	output_ignore_signals();
	/* What is decoded is what the target has put there. */
	confine_tracer(BACKEND_KERNEL_PERF, false, user, log);
	return 0;
}

static int leaks_look_now(const struct options *options, const struct log *log)
{
	struct leaks_command command = { .options = options, .finder.output = OUTPUT_STDOUT };
	struct error error = { 0 };
	int code = leaks_prepare(&command, log, &error);

	progress_open(log);
	if (!code)
		code = finder_run(&command.finder, end_signals_are_pending, &error);
	if (finder_close(&command.finder, &error) && !code)
		code = -EIO;
	pid_list_free(&command.processes);
	if (code)
		return command_fail(log, &error);
	return exit_status_of(&(struct exit_facts){ .finding = command.finder.finding });
}

/* The process that was selected, and no other one. */
static struct options leaks_options_of_process(const struct options *options,
					       struct pid_list *processes)
{
	struct options traced = *options;

	traced.pids = processes->pids;
	traced.pid_count = 1;
	traced.by_pid = true;
	traced.tree = traced.all = traced.waits = false;
	traced.wait = traced.comm = traced.command_line = NULL;
	traced.cgroup = traced.container = traced.unit = traced.user = NULL;
	return traced;
}

static int leaks_trace(const struct options *options, const struct log *log)
{
	struct finder finder = { .output = OUTPUT_STDOUT };
	struct pid_list processes = { 0 };
	struct options traced = *options;
	struct error error = { 0 };
	int status;

	if (!options->arguments) {
		if (leaks_find_process(options, &processes, &error))
			return command_fail(log, &error);
		traced = leaks_options_of_process(options, &processes);
	}
	finder.names = name_reader_new(end_signals_are_urgent);
	status = trace_find(&traced, log, &finder);
	pid_list_free(&processes);
	return status;
}

static int leaks_run_command(const struct options *options, const struct log *log)
{
	if (options->duration_ns || options->arguments)
		return leaks_trace(options, log);
	return leaks_look_now(options, log);
}

const struct command command_leaks = {
	.name = "leaks",
	.summary = "print blocks that nothing points to any more",
	.options = leaks_options,
	.notes = leaks_options_notes,
	.arguments = leaks_options_arguments,
	.starts_program = true,
	.writes = leaks_options_writes,
	.check = leaks_options_check,
	.run = leaks_run_command,
};
