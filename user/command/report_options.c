/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_options.h. */
#include "command/report_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/trace_options.h"

const struct option_list *const report_options[] = {
	&options_table_moment,
	&options_table_sites,
	&options_table_report,
	&options_table_file,
	&options_table_output,
	&options_table_general,
	NULL,
};

static int report_store_file(const struct command_line *line, const char *text,
			     struct options *options, struct error *error)
{
	(void)line, (void)error;
	options->recording = text;
	return 0;
}

const struct argument_row report_options_arguments[] = {
	{ "FILE", false, report_store_file },
	{ NULL },
};

int report_options_check(const struct command_line *line, struct options *options,
			 struct error *error)
{
	int code;

	(void)line;
	code = trace_options_check_format(options, error);
	if (!code)
		trace_options_set_format_defaults(options);
	return code;
}
