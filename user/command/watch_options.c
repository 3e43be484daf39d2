/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See watch_options.h. */
#include "command/watch_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"
#include "render/render.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* Thousandths of a percent. */
#define BUDGET_DEFAULT 1000
/* A look at all rows. */
#define LOOK_NS 1000000000

const struct option_list *const watch_options[] = {
	&options_table_target,
	&options_table_follow,
	&options_table_time,
	&options_table_sites,
	&options_table_report,
	&options_table_found,
	&options_table_file,
	&options_table_top,
	&options_table_output,
	&options_table_record,
	&options_table_probe,
	&options_table_general,
	NULL,
};

const struct command_note watch_options_notes[] = {
	{ "duration", .help = "end after TIME, sure or not" },
	{ "sort", .refused = "it orders by what matters, leaks first" },
	{ "fail-over", .refused = "it judges growth: --fail-on-leak is its threshold" },
	{ "schema", .refused = "its JSON is one of its own" },
	{ "empty", .refused = "its JSON is one of its own" },
	{ "light", .refused = "without frees there are no verdicts" },
	{ NULL },
};

bool watch_options_writes(const struct render_format *format)
{
	return format->render_watch != NULL;
}

static int watch_check_values(const struct options *options, struct error *error)
{
	if (!watch_options_writes(options->format))
		return USAGE("'tracer watch' has the formats text and json (-j), and not %s",
			     options->format->name);
	if (options->usdt == USDT_ONLY)
		return USAGE("samples have no verdicts: leave out --usdt=only");
	return 0;
}

int watch_options_check(const struct command_line *line, struct options *options,
			struct error *error)
{
	int code = target_options_check(line, options, error);

	if (!code)
		code = watch_check_values(options, error);
	if (!code)
		code = trace_options_check_blocks(options, error);
	if (code)
		return code;
	/* A command is watched from its first instruction: there is nothing to choose by, and windows would not see it. */
	if (!options->budget && !options->arguments)
		options->budget = BUDGET_DEFAULT;
	options->sort = SORT_LEAK;
	/* Text groups by line; programs that read JSON were promised stacks. */
	if (options->by == GROUP_BY_DEFAULT && options->format->by_line)
		options->by = GROUP_BY_PLACE;
	trace_options_set_defaults(options);
	trace_options_set_format_defaults(options);
	options->interval_ns = LOOK_NS;
	return 0;
}
