/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_options.h. */
#include "command/plan_options.h"

#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"

const struct option_list *const plan_options[] = {
	&options_table_target,
	&options_table_probe,
	&options_table_general,
	NULL,
};

const struct argument_row plan_options_arguments[] = { { NULL } };

int plan_options_check(const struct command_line *line, struct options *options,
		       struct error *error)
{
	int code = target_options_check(line, options, error);

	return code ? code : trace_options_check_light(options, error);
}
