/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer record`: trace as `tracer` does, and keep every interval in a file. */
#include "command/command.h"
#include "command/kernel_trace.h"
#include "command/record_options.h"
#include "command/trace.h"
#include "command/trace_options.h"

static int record_run(const struct options *options, const struct log *log)
{
	struct recorder recorder = { .log = log, .key_fd = -1, .asked_fd = -1 };

	/* In other tools, and for a file, it would be the limit of that file. */
	if (options->max_size != UINT64_MAX && !options->limit)
		log_write(log, LOG_NOTICE,
			  "-Z/--max-size leaves larger blocks out; --limit is what limits the "
			  "size of the recording");
	if (options->kernel)
		return kernel_trace_run(options, log, &recorder);
	return trace_processes(options, log, &recorder);
}

const struct command command_record = {
	.name = "record",
	.summary = "trace as well, and keep every interval in a file",
	.options = record_options,
	.notes = record_options_notes,
	.arguments = trace_options_arguments,
	.starts_program = true,
	.check = record_options_check,
	.run = record_run,
};
