/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See top_options.h. */
#include "command/top_options.h"

#include <errno.h>

#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

#define INTERVAL_DEFAULT_NS 1000000000ull
#define INTERVAL_MIN_NS 100000000ull
/* Rows that can be scrolled through: the frames of all are named. */
#define ROWS_DEFAULT 1000

const struct option_list *const top_options[] = {
	&options_table_target, &options_table_follow,  &options_table_sites,
	&options_table_count,  &options_table_top,     &options_table_record,
	&options_table_probe,  &options_table_general, NULL,
};

const struct command_note top_options_notes[] = {
	{ "top", .help = "rows to scroll through (1000); 0 = all" },
	{ NULL },
};

/* The same as of trace, of which the first is taken. */
const struct argument_row top_options_arguments[] = {
	{ "INTERVAL", true, trace_options_store_interval },
	{ NULL },
};

int top_options_check(const struct command_line *line, struct options *options, struct error *error)
{
	int code = target_options_check(line, options, error);

	if (!code)
		code = trace_options_check_blocks(options, error);
	if (!code)
		code = trace_options_check_budget(options, error);
	if (!code)
		code = trace_options_check_light(options, error);
	if (code)
		return code;
	if (options->interval_ns && options->interval_ns < INTERVAL_MIN_NS)
		return USAGE("an interval of '%s' is too short for a screen: at least 100ms",
			     line->positions[0]);
	if (!options->interval_ns)
		options->interval_ns = INTERVAL_DEFAULT_NS;
	trace_options_set_defaults(options);
	if (options->top == OPTIONS_TOP_DEFAULT)
		options->top = ROWS_DEFAULT;
	/* What matters comes first; keys change it. */
	options->sort = options->light ? SORT_GROWTH : SORT_LEAK;
	return 0;
}
