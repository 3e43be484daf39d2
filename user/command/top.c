/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer top`: trace as `tracer` does, and show on a terminal what is in use, live. */
#include "command/command.h"
#include "command/top_options.h"
#include "command/trace.h"
#include "command/viewer.h"

static int top_run(const struct options *options, const struct log *log)
{
	struct error error = { 0 };
	struct viewer viewer;
	int status;

	if (viewer_open(&viewer, options, log, &error))
		status = command_fail(log, &error);
	else
		status = trace_show(options, &viewer.messages.log, &viewer);
	viewer_close(&viewer);
	return status;
}

const struct command command_top = {
	.name = "top",
	.summary = "trace as well, and show it live on the terminal",
	.options = top_options,
	.notes = top_options_notes,
	.arguments = top_options_arguments,
	.starts_program = true,
	.check = top_options_check,
	.run = top_run,
};
