/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mark_options.h. */
#include "command/mark_options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "command/options_table.h"

#define NAME_MAX_BYTES 64

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const mark_options[] = { &options_table_general, NULL };

static int mark_store_file(const struct command_line *line, const char *text,
			   struct options *options, struct error *error)
{
	(void)line, (void)error;
	options->recording = text;
	return 0;
}

/* A name is no time, and looks as it is. */
static bool mark_is_name(const char *text)
{
	struct buffer safe = { 0 };
	bool same;

	text_append_safe(&safe, text);
	same = safe.data && !strcmp(safe.data, text);
	buffer_free(&safe);
	return same && !isdigit((unsigned char)*text) && strlen(text) <= NAME_MAX_BYTES;
}

static int mark_store_name(const struct command_line *line, const char *text,
			   struct options *options, struct error *error)
{
	(void)line;
	if (!mark_is_name(text))
		return USAGE("the name of a mark is a text of up to %d bytes that does not begin "
			     "with a digit",
			     NAME_MAX_BYTES);
	options->mark = text;
	return 0;
}

const struct argument_row mark_options_arguments[] = {
	{ "FILE", false, mark_store_file, true },
	{ "NAME", false, mark_store_name },
	{ NULL },
};
