/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer diff`: what differs between moments of recordings, or reports in JSON; of three, what is retained. */
#include "command/command.h"
#include "command/comparison.h"
#include "command/diff_options.h"

static int diff_run(const struct options *options, const struct log *log)
{
	struct comparand comparands[DIFFERENCE_PROFILES_MAX] = { 0 };
	struct error error = { 0 };
	size_t i;
	int code = 0, status;

	for (i = 0; i < options->compared_count && !code; i++)
		code = comparand_parse(&comparands[i], options->compared[i],
				       i ? comparands[i - 1].path : NULL, &error);
	status = code ? command_fail(log, &error)
		      : comparison_run(comparands, options->compared_count, options, log);
	for (i = 0; i < options->compared_count; i++)
		comparand_close(&comparands[i]);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "what has grown between two moments of recordings",
	.options = diff_options,
	.arguments = diff_options_arguments,
	.writes = diff_options_writes,
	.check = diff_options_check,
	.run = diff_run,
};
