/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_options.h. */
#include "command/leaks_options.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "command/options_table.h"
#include "command/target_options.h"
#include "command/trace_options.h"
#include "model/leak_report.h"
#include "render/render.h"

#define ROWS_DEFAULT 10
/* Less is not enough for any process. */
#define MEMORY_MIN (64ull << 20)
#define MAX_PAUSE_NS 200000000ull

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

const struct option_list *const leaks_options[] = {
	&options_table_target, &options_table_follow,  &options_table_time,
	&options_table_frames, &options_table_found,   &options_table_file,
	&options_table_top,    &options_table_output,  &options_table_leaks,
	&options_table_limits, &options_table_record,  &options_table_probe,
	&options_table_who,    &options_table_general, NULL,
};

#define ONE_PROCESS "it looks at one process, which -p or another option selects"
#define ALL_CALLS "it looks up who has allocated what is lost, which takes all calls"

const struct command_note leaks_options_notes[] = {
	{ "duration", .help = "trace for TIME before it looks, for stacks" },
	{ "pid", .help = "the process" },
	{ "tree", .refused = ONE_PROCESS },
	{ "all", .refused = ONE_PROCESS },
	{ "wait", .refused = "it looks at a process that runs: 'tracer leaks -- CMD' starts one" },
	{ "follow-fork", .refused = ONE_PROCESS },
	{ "keep-exited", .refused = "what ended programs held is not lost, but gone" },
	{ "budget", .refused = ALL_CALLS },
	{ "max-window", .refused = ALL_CALLS },
	{ NULL },
};

const struct argument_row leaks_options_arguments[] = { { .name = NULL } };

bool leaks_options_writes(const struct render_format *format)
{
	return strcmp(format->name, "metrics") != 0;
}

/* Lost blocks are found once, at the end, among all blocks. */
static int leaks_options_check_trace(const struct options *options, struct error *error)
{
	int code;

	if (options->usdt == USDT_ONLY)
		return USAGE("'tracer leaks' looks up who has allocated what is lost, and "
			     "--usdt=only records samples: leave it out");
	code = trace_options_check_blocks(options, error);
	return code ? code : trace_options_check_light(options, error);
}

static bool leaks_options_are_one_file(const char *left, const char *right)
{
	struct stat a, b;

	return !strcmp(left, right) || (!stat(left, &a) && !stat(right, &b) && S_ISREG(a.st_mode) &&
					a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static int leaks_options_check_before(const struct options *options, struct error *error)
{
	if (options->who && (options->save || options->leaks_since))
		return USAGE("--who is about one block: leave out %s",
			     options->save ? "--save" : "--since");
	if (options->save && options->output &&
	    leaks_options_are_one_file(options->save, options->output))
		return USAGE("--save and -o are one file, '%s': name two", options->save);
	if (options->max_pause_ns && !options->pause)
		return USAGE("--max-pause limits the stop of --pause: add --pause, or leave it "
			     "out");
	if (options->pause && options->arguments)
		return USAGE("a command is stopped where it ends: leave out --pause");
	if (options->arguments && options->leaks_since)
		return USAGE("--since is of an earlier look at the same process, and a command "
			     "that is started is a new one: use -p");
	return 0;
}

/* What is by stacks takes stacks. */
static int leaks_options_check_rules(const struct options *options, struct error *error)
{
	const char *option = options->only_module_count	  ? "--only-module"
			     : options->suppression_count ? "--suppressions"
			     : options->gen_suppressions  ? "--gen-suppressions"
							  : NULL;

	if (option && !options->duration_ns && !options->arguments)
		return USAGE("%s is by the stacks of what was allocated, which only a trace has: "
			     "add -d TIME, or trace a command",
			     option);
	if (options->gen_suppressions && strcmp(options->format->name, "text") != 0)
		return USAGE("--gen-suppressions is of text: leave out the format %s",
			     options->format->name);
	return 0;
}

int leaks_options_check(const struct command_line *line, struct options *options,
			struct error *error)
{
	int code = target_options_check(line, options, error);

	if (!code && (options->duration_ns || options->arguments))
		code = leaks_options_check_trace(options, error);
	if (!code)
		code = leaks_options_check_rules(options, error);
	if (!code)
		code = leaks_options_check_before(options, error);
	if (code)
		return code;
	if (!leaks_options_writes(options->format))
		return USAGE("'tracer leaks' has no report of the format metrics: use another one");
	if (options->who && !options->format->render_leaks)
		return USAGE("'tracer leaks --who' writes text and json, and no %s",
			     options->format->name);
	if (options->max_memory < MEMORY_MIN)
		return USAGE("--max-memory is too small: at least %llum", MEMORY_MIN >> 20);
	if (options->top == OPTIONS_TOP_DEFAULT)
		options->top = options->format->all_sites ? 0 : ROWS_DEFAULT;
	if (!options->has_heuristics)
		options->heuristics = (1u << LEAK_HEURISTICS) - 1;
	if (!options->max_pause_ns)
		options->max_pause_ns = MAX_PAUSE_NS;
	options->follow_fork = options->arguments && !options->no_follow_fork;
	return 0;
}
