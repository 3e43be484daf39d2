/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_options.h. */
#include "command/report_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/trace_options.h"
#include "render/render.h"

const struct option_list *const report_options[] = {
	&options_table_moment,	&options_table_frames,
	&options_table_sites,	&options_table_folded,
	&options_table_report,	&options_table_file,
	&options_table_top,	&options_table_output,
	&options_table_general, NULL,
};

static int report_store_file(const struct command_line *line, const char *text,
			     struct options *options, struct error *error)
{
	(void)line, (void)error;
	options->recording = text;
	return 0;
}

const struct argument_row report_options_arguments[] = {
	{ "FILE", false, report_store_file, true },
	{ NULL },
};

/* A difference has an order of its own, and JSON of its own. */
static int report_check_base(const struct options *options, struct error *error)
{
	const char *other = NULL;

	if (!options->base)
		return 0;
	if (options->from)
		other = "--from";
	else if (options->fail_on_leak)
		other = "--fail-on-leak";
	else if (options->sort != SORT_AUTO && options->sort != SORT_INUSE &&
		 options->sort != SORT_GROWTH)
		other = "-s/--sort";
	else if (options->schema != 1)
		other = "--schema";
	else if (options->empty)
		other = "--empty";
	else if (!options->format->render_difference)
		other = "--format";
	if (!other)
		return 0;
	return error_set(error, ERROR_USAGE, -EINVAL,
			 "--base shows what differs, as 'tracer diff' does: it excludes %s%s%s",
			 other, options->format->render_difference ? "" : " ",
			 options->format->render_difference ? "" : options->format->name);
}

int report_options_check(const struct command_line *line, struct options *options,
			 struct error *error)
{
	int code;

	(void)line;
	code = report_check_base(options, error);
	if (!code)
		code = trace_options_check_format(options, error);
	if (!code)
		trace_options_set_format_defaults(options);
	return code;
}
