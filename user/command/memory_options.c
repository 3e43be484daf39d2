/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_options.h. */
#include "command/memory_options.h"

#include <errno.h>
#include <string.h>

#include "command/options_table.h"
#include "command/target_options.h"
#include "render/render.h"

#define ROWS_DEFAULT 10
/* Less is not enough for any process. */
#define MEMORY_MIN (64ull << 20)

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const memory_options[] = {
	&options_table_target, &options_table_file,   &options_table_top,     &options_table_output,
	&options_table_look,   &options_table_limits, &options_table_general, NULL,
};

bool memory_options_is_text(const struct options *options)
{
	return !strcmp(options->format->name, "text");
}

bool memory_options_writes(const struct render_format *format)
{
	return format->render_memory != NULL;
}

int memory_options_check(const struct command_line *line, struct options *options,
			 struct error *error)
{
	int code = target_options_check(line, options, error);

	if (code)
		return code;
	if (!memory_options_writes(options->format))
		return USAGE("'tracer memory' writes text, json and html, and no %s",
			     options->format->name);
	if (options->interval_ns && !options->format->separator)
		return USAGE("a file holds one report of the format %s: leave out INTERVAL '%s'",
			     options->format->name, line->positions[0]);
	if (options->max_memory < MEMORY_MIN)
		return USAGE("--max-memory is too small: at least %llum", MEMORY_MIN >> 20);
	if (options->interval_ns && options->count == 1)
		return USAGE(
			"what has grown takes two looks at least: COUNT 1 leaves out INTERVAL");
	if (options->top == OPTIONS_TOP_DEFAULT)
		options->top = ROWS_DEFAULT;
	return 0;
}
