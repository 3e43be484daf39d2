/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_options.h. */
#include "command/leaks_options.h"

#include <errno.h>
#include <string.h>

#include "command/memory_options.h"
#include "command/options_table.h"
#include "command/target_options.h"
#include "render/render.h"

#define ROWS_DEFAULT 10
/* Less is not enough for any process. */
#define MEMORY_MIN (64ull << 20)

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const leaks_options[] = {
	&options_table_target,
	&options_table_file,
	&options_table_top,
	&options_table_output,
	&options_table_limits,
	&options_table_general,
	NULL,
};

const struct argument_row leaks_options_arguments[] = { { .name = NULL } };

int leaks_options_check(const struct command_line *line, struct options *options,
			struct error *error)
{
	int code = target_options_check(line, options, error);

	if (code)
		return code;
	if (!memory_options_is_text(options) && strcmp(options->format->name, "json") != 0)
		return USAGE("'tracer leaks' writes text and json, and no %s",
			     options->format->name);
	if (options->max_memory < MEMORY_MIN)
		return USAGE("--max-memory is too small: at least %llum", MEMORY_MIN >> 20);
	if (options->top == OPTIONS_TOP_DEFAULT)
		options->top = ROWS_DEFAULT;
	return 0;
}
