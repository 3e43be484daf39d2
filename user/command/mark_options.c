/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mark_options.h. */
#include "command/mark_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "recording/marker.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const mark_options[] = { &options_table_general, NULL };

static int mark_store_file(const struct command_line *line, const char *text,
			   struct options *options, struct error *error)
{
	(void)line, (void)error;
	options->recording = text;
	return 0;
}

static int mark_store_name(const struct command_line *line, const char *text,
			   struct options *options, struct error *error)
{
	(void)line;
	if (!marker_is_name(text))
		return USAGE("the name of a mark is a text of up to %d bytes that does not begin "
			     "with a digit",
			     MARKER_NAME_MAX);
	options->mark = text;
	return 0;
}

const struct argument_row mark_options_arguments[] = {
	{ "FILE", false, mark_store_file, true },
	{ "NAME", false, mark_store_name },
	{ NULL },
};
