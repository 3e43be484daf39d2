/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trace_options.h. */
#include "command/trace_options.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/units.h"
#include "command/command_line.h"
#include "command/kernel_options.h"
#include "command/options_table.h"
#include "command/target_options.h"
#include "render/render.h"

#define INTERVAL_DEFAULT_NS 5000000000ULL
#define INTERVAL_MIN_NS 1000000ULL
/* A bare number above this is more likely a second process ID than a number of seconds. */
#define BARE_SECONDS_MAX 3600

#define SITES_DEFAULT 10

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const trace_options[] = {
	&options_table_target, &options_table_kernel,  &options_table_follow,
	&options_table_time,   &options_table_trigger, &options_table_frames,
	&options_table_sites,  &options_table_folded,  &options_table_report,
	&options_table_found,  &options_table_count,   &options_table_file,
	&options_table_top,    &options_table_output,  &options_table_record,
	&options_table_probe,  &options_table_general, NULL,
};

/* A number that is more likely a process ID. */
static int trace_refuse_second_pid(const char *text, const struct options *options,
				   struct error *error)
{
	struct buffer pids = { 0 };
	size_t i;

	for (i = 0; i < options->pid_count; i++)
		buffer_printf(&pids, "%d,", options->pids[i]);
	buffer_append_string(&pids, text);
	USAGE("'%s' is not an interval: a bare number is seconds, up to %d (write %ss if you mean "
	      "it); processes are given as -p %s",
	      text, BARE_SECONDS_MAX, text, pids.data);
	buffer_free(&pids);
	return -EINVAL;
}

int trace_options_store_interval(const struct command_line *line, const char *text,
				 struct options *options, struct error *error)
{
	const char *nearest = command_line_suggest(line->commands, text);
	uint64_t ns, seconds;

	if (nearest)
		return USAGE("'%s' is not an interval; did you mean 'tracer %s'?", text, nearest);
	if (target_options_is_number(text) && !units_parse_number(text, BARE_SECONDS_MAX, &seconds))
		return trace_refuse_second_pid(text, options, error);
	if (isdigit((unsigned char)*text) && strchr(text, ','))
		return USAGE("'%s' is not an interval; processes are given as -p %s", text, text);
	if (!units_parse_time(text, &ns) || ns > OPTION_TIME_MAX_NS)
		return USAGE("'%s' is not an interval such as 2, 500ms or 5m; a command to start "
			     "is given as 'tracer -- %s'",
			     text, text);
	if (ns < INTERVAL_MIN_NS)
		return USAGE("an interval of '%s' is too short: at least 1ms", text);
	options->interval_ns = ns;
	return 0;
}

static int trace_store_count(const struct command_line *line, const char *text,
			     struct options *options, struct error *error)
{
	(void)line;
	if (!units_parse_number(text, UINT32_MAX, &options->count) || !options->count)
		return USAGE("'%s' is not a COUNT: a whole number of reports from 1 to %u", text,
			     UINT32_MAX);
	return 0;
}

const struct argument_row trace_options_arguments[] = {
	{ "INTERVAL", true, trace_options_store_interval },
	{ "COUNT", true, trace_store_count },
	{ NULL },
};

/* With --budget, no block is followed from its birth to its end. */
int trace_options_check_budget(const struct options *options, struct error *error)
{
	const char *other = NULL;

	if (!options->budget)
		return 0;
	if (options->min_age_ns)
		other = "--min-age";
	else if (options->survived)
		other = "--survived";
	else if (options->usdt == USDT_ONLY)
		other = "--usdt=only";
	else if (options->fail_over != UINT64_MAX)
		other = "--fail-over";
	else if (options->light)
		other = "--light";
	if (!other)
		return 0;
	return USAGE("--budget traces in short windows and estimates: it excludes %s", other);
}

/* With --light, what is in use is what a census finds in the heap of a process that runs. */
int trace_options_check_light(const struct options *options, struct error *error)
{
	if (!options->light)
		return 0;
	if (options->arguments)
		return USAGE(
			"--light looks at the heap of a process that runs, and that of '%s' has "
			"gone when it ends: start it first and give its PID with -p, or leave "
			"--light out",
			options->arguments[0]);
	if (options->all)
		return USAGE(
			"--light looks at the heap of each process at each report: it excludes "
			"-a/--all");
	if (options->named.count)
		return USAGE("--light finds blocks in heaps that it knows, and --alloc, --realloc "
			     "and --free name functions of others: they exclude each other");
	if (options->usdt == USDT_ONLY)
		return USAGE("--light is for functions, and --usdt=only probes none: they exclude "
			     "each other");
	if (options->on_oom)
		return USAGE("--light looks at the heap of a process that runs, and one that was "
			     "killed has none: leave out --on-oom, or --light");
	if (options->sort == SORT_TEMPORARY)
		return USAGE("--light sees no frees, so it is not known which blocks are "
			     "temporary: leave out --sort temporary");
	if (options->sort == SORT_LEAK || options->fail_on_leak)
		return USAGE("--light sees no frees, so no block's lifespan is known and there "
			     "are no verdicts: leave out %s",
			     options->fail_on_leak ? "--fail-on-leak" : "--sort leak");
	return 0;
}

/* The command gets a file of its own, and a file may hold one report only. */
static int trace_check_triggers(const struct options *options, struct error *error)
{
	if (options->exec && (!options->output || !strcmp(options->output, "-")))
		return USAGE("--exec needs the name of a file: with -o FILE, the reports that CMD "
			     "gets are FILE.1, FILE.2 and so on");
	if (options_have_triggers(options) && !options->exec && !options->format->separator)
		return USAGE("a file holds one report of the format %s: add --exec CMD, for which "
			     "each report has a file of its own",
			     options->format->name);
	return 0;
}

int trace_options_check_blocks(const struct options *options, struct error *error)
{
	char age[UNITS_TEXT_MAX], duration[UNITS_TEXT_MAX];

	if (options->duration_ns && options->min_age_ns >= options->duration_ns)
		return USAGE("no block can be in use for %s (--min-age) after %s of tracing "
			     "(-d/--duration): only blocks that are allocated while it traces "
			     "are known",
			     units_format_time(options->min_age_ns, age),
			     units_format_time(options->duration_ns, duration));
	if (options->min_size > options->max_size)
		return USAGE("no block can be at least %llu (-z) and at most %llu (-Z) bytes long",
			     (unsigned long long)options->min_size,
			     (unsigned long long)options->max_size);
	if (options->follow_fork && options->no_follow_fork)
		return USAGE("--follow-fork and --no-follow-fork exclude each other");
	if (options->tree && options->no_follow_fork)
		return USAGE("--tree and --no-follow-fork exclude each other");
	return 0;
}

int trace_options_check_format(const struct options *options, struct error *error)
{
	if (options->schema != 1 && strcmp(options->format->name, "json") != 0)
		return USAGE("--schema is of JSON: use it with -j");
	if (options->empty && options->schema != 2)
		return USAGE("--empty is for --schema 2; in schema 1, -n 0 lists sites that hold "
			     "nothing, too");
	if (options->empty && options->top && report_sort_is_inuse(options->sort))
		return USAGE("sites that hold nothing (--empty) are the last ones: add -n 0, which "
			     "lists all");
	return 0;
}

static int trace_check_values(const struct command_line *line, const struct options *options,
			      struct error *error)
{
	int code;

	if (options->duration_ns && options->interval_ns)
		return USAGE("-d/--duration gives one report, INTERVAL '%s' several: use one of "
			     "them ('tracer -p PID 2 5' ends after 5 reports)",
			     line->positions[0]);
	code = trace_options_check_blocks(options, error);
	if (!code)
		code = trace_options_check_format(options, error);
	if (!code && options->interval_ns && !options->format->separator)
		return USAGE("a file holds one report of the format %s: use -d/--duration instead "
			     "of INTERVAL '%s'",
			     options->format->name, line->positions[0]);
	return code;
}

void trace_options_set_format_defaults(struct options *options)
{
	/* What other programs read has stacks, as it always had. */
	if (options->by == GROUP_BY_DEFAULT && !options->format->by_line)
		options->by = GROUP_BY_STACK;
	if (options->top == OPTIONS_TOP_DEFAULT)
		options->top = options->format->all_sites ? 0 : SITES_DEFAULT;
}

void trace_options_set_defaults(struct options *options)
{
	if (options->arguments)
		options->follow_fork = !options->no_follow_fork;
	options->follow_fork |= options->tree;
	if (!options->interval_ns)
		options->interval_ns = INTERVAL_DEFAULT_NS;
}

int trace_options_check(const struct command_line *line, struct options *options,
			struct error *error)
{
	int result = options->kernel ? kernel_options_check_target(line, options, error)
				     : target_options_check(line, options, error);
	bool once;

	if (!result)
		result = trace_check_values(line, options, error);
	if (!result)
		result = trace_options_check_budget(options, error);
	if (!result)
		result = trace_options_check_light(options, error);
	if (!result)
		result = trace_check_triggers(options, error);
	if (!result)
		result = kernel_options_check(options, error);
	if (result)
		return result;
	/* One report at the end, and those that triggers ask for. */
	once = !options->interval_ns &&
	       (options->arguments || options->duration_ns || !options->format->separator ||
		options_have_triggers(options));
	trace_options_set_defaults(options);
	trace_options_set_format_defaults(options);
	if (once)
		options->interval_ns = 0;
	return 0;
}
