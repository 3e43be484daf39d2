/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer` itself, and the commands that tracing is a part of, by who takes what was traced: see trace.h. */
#include "command/trace.h"

#include "command/command.h"
#include "command/kernel_trace.h"
#include "command/trace_options.h"

int trace_processes(const struct options *options, const struct log *log, struct recorder *recorder)
{
	return trace_execute(options, log, &(struct trace_taker){ .recorder = recorder });
}

int trace_serve(const struct options *options, const struct log *log, struct server *server)
{
	return trace_execute(options, log, &(struct trace_taker){ .server = server });
}

int trace_find(const struct options *options, const struct log *log, struct finder *finder)
{
	return trace_execute(options, log, &(struct trace_taker){ .finder = finder });
}

int trace_show(const struct options *options, const struct log *log, struct viewer *viewer)
{
	return trace_execute(options, log, &(struct trace_taker){ .viewer = viewer });
}

int trace_watch_verdicts(const struct options *options, const struct log *log,
			 struct watcher *watcher)
{
	return trace_execute(options, log, &(struct trace_taker){ .watcher = watcher });
}

static int trace_run(const struct options *options, const struct log *log)
{
	if (options->kernel)
		return kernel_trace_run(options, log, NULL);
	return trace_processes(options, log, NULL);
}

const struct command command_trace = {
	.name = "trace",
	.summary = "trace processes, or a command: what they do not free",
	.options = trace_options,
	.arguments = trace_options_arguments,
	.starts_program = true,
	.check = trace_options_check,
	.run = trace_run,
};
