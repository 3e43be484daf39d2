/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See record_options.h. */
#include "command/record_options.h"

#include <errno.h>

#include "command/kernel_options.h"
#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const record_options[] = {
	&options_table_target, &options_table_kernel,	 &options_table_follow,
	&options_table_time,   &options_table_trigger,	 &options_table_count,
	&options_table_file,   &options_table_recording, &options_table_record,
	&options_table_probe,  &options_table_general,	 NULL,
};

const struct command_note record_options_notes[] = {
	{ "duration", .help = "record for TIME" },
	{ "output", .help = "the recording, a new file" },
	{ "light", .refused = "a recording keeps when blocks were freed" },
	{ NULL },
};

int record_options_check(const struct command_line *line, struct options *options,
			 struct error *error)
{
	uint64_t at_end;
	int code = options->kernel ? kernel_options_check_target(line, options, error)
				   : target_options_check(line, options, error);

	if (!code)
		code = trace_options_check_blocks(options, error);
	if (!code)
		code = kernel_options_check(options, error);
	if (!code)
		code = trace_options_check_budget(options, error);
	if (code)
		return code;
	if (!options->output)
		return USAGE("'tracer record' needs the name of the recording: -o FILE");
	trace_options_set_defaults(options);
	/* The interval at the end of -d is the last one, also where the last tick comes then. */
	at_end = (options->duration_ns + options->interval_ns - 1) / options->interval_ns;
	if (at_end && (!options->count || at_end < options->count))
		options->count = at_end;
	return 0;
}
