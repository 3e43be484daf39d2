/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer watch`: verdicts, within a budget, until they are sure. */
#include "command/command.h"
#include "command/trace.h"
#include "command/trace_options.h"
#include "command/watch_options.h"

static int watch_run(const struct options *options, const struct log *log)
{
	struct watcher watcher = { 0 };
	int status = trace_watch_verdicts(options, log, &watcher);

	watcher_free(&watcher);
	return status;
}

static const struct argument_row watch_arguments[] = { { NULL } };

const struct command command_watch = {
	.name = "watch",
	.summary = "find what leaks, fills or is steady, until it is sure",
	.options = watch_options,
	.notes = watch_options_notes,
	.arguments = watch_arguments,
	.starts_program = true,
	.writes = watch_options_writes,
	.check = watch_options_check,
	.run = watch_run,
};
