/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See diff_options.h. */
#include "command/diff_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/trace_options.h"
#include "render/render.h"

const struct option_list *const diff_options[] = {
	&options_table_frames, &options_table_sites,  &options_table_folded,  &options_table_file,
	&options_table_top,    &options_table_output, &options_table_general, NULL,
};

static int diff_store(const struct command_line *line, const char *text, struct options *options,
		      struct error *error)
{
	(void)line, (void)error;
	options->compared[options->compared_count++] = text;
	return 0;
}

const struct argument_row diff_options_arguments[] = {
	{ "A", false, diff_store, true },
	{ "B", false, diff_store, true },
	{ "C", true, diff_store, true },
	{ NULL },
};

bool diff_options_writes(const struct render_format *format)
{
	return format->render_difference != NULL;
}

int diff_options_check(const struct command_line *line, struct options *options,
		       struct error *error)
{
	(void)line;
	if (!diff_options_writes(options->format))
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the format %s has no differences: use text, json, folded, pprof, "
				 "speedscope, callgrind or html",
				 options->format->name);
	trace_options_set_format_defaults(options);
	return 0;
}
