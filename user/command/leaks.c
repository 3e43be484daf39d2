/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer leaks`: which blocks of a process nothing points to any more. Attaches nothing, stops nothing. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "command/candidates.h"
#include "command/command.h"
#include "command/confine.h"
#include "command/leaks_options.h"
#include "command/memory_options.h"
#include "command/output.h"
#include "kernel/thread_iterator.h"
#include "memory/leaks_look.h"
#include "render/leaks.h"
#include "system/end_signals.h"
#include "system/privilege.h"
#include "system/proc.h"
#include "system/thread_calls.h"

#define GAP_NS 100000000ull /* between two passes */
#define READS_MOST 40 /* of registers: more than leaks_look asks for */
#define STATUS_LEAKS 1

struct leaks_command {
	const struct options *options;
	struct pid_list processes;
	struct output output;
	bool color;
	struct thread_iterator *iterator; /* NULL = the kernel has none */
	struct end_signals *end_signals;
	struct name_reader *names;
};

static bool leaks_read_registers(void *context, struct thread_registers_list *list)
{
	const struct leaks_command *command = context;

	if (command->iterator && thread_iterator_read(command->iterator, list))
		return true;
	list->count = 0;
	list->is_whole = false;
	thread_calls_read("/proc", command->processes.pids[0], list);
	return list->count > 0;
}

static int leaks_find_process(struct leaks_command *command, struct error *error)
{
	int code = candidates_find(command->options, &command->processes, error);

	if (!code && command->processes.count != 1)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "'tracer leaks' looks at one process; %zu are selected: use -p",
				 command->processes.count);
	return code;
}

static int leaks_open_output(struct leaks_command *command, struct error *error)
{
	const struct options *options = command->options;
	char *host = output_host(), *path = NULL;
	const struct output_names names = { .pids = command->processes.pids,
					    .pid_count = command->processes.count,
					    .time = (int64_t)time(NULL),
					    .host = host };
	int code;

	if (options->output)
		path = output_expand(options->output, &names);
	code = output_open(&command->output, path, error);
	if (!code)
		command->color = options_use_color(options->color,
						   output_is_terminal(&command->output),
						   getenv("NO_COLOR"), getenv("TERM"));
	free(path);
	free(host);
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
		code = leaks_find_process(command, error);
	if (!code)
		code = leaks_open_output(command, error);
	if (code)
		return code;
	if (thread_iterator_open(command->processes.pids[0], READS_MOST, &command->iterator))
		log_write(log, LOG_VERBOSE, "the kernel does not show the registers of threads");
	command->names = name_reader_new(end_signals_are_pending);
	end_signals_drop_privileges(command->end_signals, user);
	/* No waiting for a CPU: the longer a pass takes, the more moves meanwhile. */
	if (!setrlimit(RLIMIT_DATA, &limit))
		memory_name_limit("--max-memory");
	signal(SIGPIPE, SIG_IGN);
	/* What is decoded is what the target has put there. */
	confine_tracer(BACKEND_KERNEL_PERF, false, user, log);
	return 0;
}

static int leaks_write_report(struct leaks_command *command, const struct leak_report *report,
			      struct error *error)
{
	const struct options *options = command->options;
	struct render_leaks_options style = {
		.base = { .color = command->color, .verbose = options->level == LOG_VERBOSE },
		.top = options->top < SIZE_MAX ? (size_t)options->top : 0
	};
	struct buffer text = { 0 };
	int code;

	output_size(&command->output, getenv("COLUMNS"), &style.base.columns, &style.base.lines);
	if (memory_options_is_text(options))
		render_leaks_text(report, &style, &text);
	else
		render_leaks_json(report, &style, &text);
	code = output_write(&command->output, &text, error);
	buffer_free(&text);
	return code == -EPIPE ? 0 : code;
}

static int leaks_report(struct leaks_command *command, int *ret_status, struct error *error)
{
	const struct leaks_wanted wanted = {
		.pid = command->processes.pids[0],
		.until_ns = clock_now_ns() + command->options->deadline_ns,
		.max_memory = command->options->max_memory / 4 * 3,
		.gap_ns = GAP_NS,
		.is_over = end_signals_are_pending,
		.names = command->names,
		.registers = leaks_read_registers,
		.context = command,
	};
	struct leak_report report = { 0 };
	struct error refused = { 0 };
	int code = leaks_look(&wanted, &report, &refused);

	if (!code)
		code = leaks_write_report(command, &report, &refused);
	*ret_status = report.sums[LEAK_DEFINITE].blocks ? STATUS_LEAKS : 0;
	leak_report_free(&report);
	if (code && end_signals_are_pending())
		return error_set(error, ERROR_PERMISSION, code,
				 "a signal has ended the look before there was a result");
	return code ? error_set(error, refused.kind, code, "%s", refused.text) : 0;
}

static int leaks_run_command(const struct options *options, const struct log *log)
{
	struct leaks_command command = { .options = options, .output = OUTPUT_STDOUT };
	struct error error = { 0 };
	int status = 0, code = leaks_prepare(&command, log, &error);

	if (!code)
		code = leaks_report(&command, &status, &error);
	if (output_close(&command.output, &error) && !code)
		code = -EIO;
	thread_iterator_free(command.iterator);
	name_reader_free(command.names);
	pid_list_free(&command.processes);
	return code ? command_fail(log, &error) : status;
}

const struct command command_leaks = {
	.name = "leaks",
	.summary = "print blocks that nothing points to any more; attach nothing",
	.options = leaks_options,
	.arguments = leaks_options_arguments,
	.check = leaks_options_check,
	.run = leaks_run_command,
};
