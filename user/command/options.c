/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From argv to struct options: getopt_long over the table, then the rules that concern more than one
 * argument. Which options there are and how each is read is in options_table.c.
 */
#include "command/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "command/command.h"
#include "command/options_table.h"
#include "command/suggest.h"

/* What getopt_long returns for row 0 by its long name; above every letter. */
#define ROW_BASE 256
#define POSITIONS_MAX 4 /* COMMAND INTERVAL COUNT, and one too many so that it can be named */
#define INTERVAL_DEFAULT_NS 5000000000ULL
#define INTERVAL_MIN_NS 1000000ULL
/* A bare number above this is more likely a second process ID than a number of seconds. */
#define BARE_SECONDS_MAX 3600

/* A command line while it is read. */
struct parse {
	int argc;
	char *const *argv;
	const struct command *const *commands;
	const struct option_row *rows;
	size_t row_count;
	struct option *longs; /* for getopt_long, ended by a row of zeros */
	char *letters;
	uint64_t seen; /* bit i: row i was given */
	const char *positions[POSITIONS_MAX];
	size_t position_count;
	bool separated; /* "--" was given */
	struct options options;
	struct error *error;
};

#define USAGE(parse, ...) error_set((parse)->error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* The table in the two forms that getopt_long takes. */
static void parse_prepare(struct parse *parse)
{
	struct buffer letters = { 0 };
	size_t i;

	parse->rows = options_table(&parse->row_count);
	parse->longs = memory_alloc(parse->row_count + 1, sizeof(*parse->longs));
	/* '-': hand out other arguments in their place; ':': tell a missing argument from an unknown option. */
	buffer_append_string(&letters, "-:");
	for (i = 0; i < parse->row_count; i++) {
		const struct option_row *row = &parse->rows[i];

		parse->longs[i].name = row->name;
		parse->longs[i].has_arg = row->argument ? required_argument : no_argument;
		parse->longs[i].val = ROW_BASE + (int)i;
		if (row->letter)
			buffer_printf(&letters, "%c%s", row->letter, row->argument ? ":" : "");
	}
	parse->letters = letters.data;
	options_set_defaults(&parse->options);
}

/* The row that getopt_long means by a code, or NULL. */
static const struct option_row *parse_find_row(const struct parse *parse, int code)
{
	size_t i;

	if (code >= ROW_BASE && (size_t)(code - ROW_BASE) < parse->row_count)
		return &parse->rows[code - ROW_BASE];
	for (i = 0; code && i < parse->row_count; i++)
		if (parse->rows[i].letter == code)
			return &parse->rows[i];
	return NULL;
}

/* How many options `name` may abbreviate; their names are appended to `ret_names`. */
static size_t parse_find_abbreviated(const struct parse *parse, const char *name, size_t length,
				     struct buffer *ret_names)
{
	size_t i, found = 0;

	for (i = 0; i < parse->row_count; i++)
		if (!strncmp(parse->rows[i].name, name, length))
			buffer_printf(ret_names, "%s--%s", found++ ? ", " : "",
				      parse->rows[i].name);
	return found;
}

/* The visible option that a mistyped name is nearest to, or NULL. */
static const char *parse_suggest(const struct parse *parse, const char *name)
{
	const char **names = memory_alloc(parse->row_count + 1, sizeof(*names));
	size_t i, count = 0;
	const char *nearest;

	for (i = 0; i < parse->row_count; i++)
		if (!(parse->rows[i].flags & OPTION_TESTING))
			names[count++] = parse->rows[i].name;
	nearest = suggest_nearest(name, names);
	free(names);
	return nearest;
}

/* A long option that getopt_long did not take. `given` still has its dashes and perhaps a value. */
static int parse_refuse_long(struct parse *parse, const char *given)
{
	size_t length = strcspn(given + 2, "=");
	char *name = memory_format("%.*s", (int)(length > 255 ? 255 : length), given + 2);
	struct buffer names = { 0 };
	const char *nearest = parse_suggest(parse, name);

	if (parse_find_abbreviated(parse, name, length, &names) > 1)
		USAGE(parse, "option '--%s' is ambiguous: %s", name, names.data);
	else if (nearest)
		USAGE(parse, "unknown option '--%s'; did you mean '--%s'?", name, nearest);
	else
		USAGE(parse, "unknown option '--%s'; 'tracer -h' lists the options", name);
	buffer_free(&names);
	free(name);
	return -EINVAL;
}

/* getopt_long gave `code`, '?' or ':', for the argument `given`. */
static int parse_refuse(struct parse *parse, int code, const char *given)
{
	const struct option_row *row = parse_find_row(parse, optopt);
	char label[OPTION_LABEL_MAX];

	if (code == ':' && row)
		return USAGE(parse, "%s needs an argument: %s", option_label(row, label),
			     row->argument);
	if (optopt >= ROW_BASE && row)
		return USAGE(parse, "%s takes no argument, but got one in '%s'",
			     option_label(row, label), given);
	if (!optopt)
		return parse_refuse_long(parse, given);
	return USAGE(parse, "unknown option '-%c'; 'tracer -h' lists the options", optopt);
}

static void parse_add_position(struct parse *parse, const char *text)
{
	if (parse->position_count < POSITIONS_MAX)
		parse->positions[parse->position_count++] = text;
}

static int parse_store(struct parse *parse, const struct option_row *row)
{
	parse->seen |= 1ULL << (row - parse->rows);
	return row->store(row, row->argument ? optarg : NULL, &parse->options, parse->error);
}

/* Every argument up to "--". */
static int parse_arguments(struct parse *parse)
{
	int code, before, result = 0;

	opterr = 0;
	optind = 0; /* glibc and musl: start anew */
	for (;;) {
		before = optind;
		code = getopt_long(parse->argc, parse->argv, parse->letters, parse->longs, NULL);
		if (code == -1)
			break;
		if (code == 1)
			parse_add_position(parse, optarg);
		else if (code == '?' || code == ':')
			result = parse_refuse(parse, code, parse->argv[optind - 1]);
		else
			result = parse_store(parse, parse_find_row(parse, code));
		if (result)
			return result;
	}
	/* Only "--" is taken without being handed out. Without arguments, optind is 1 at once. */
	parse->separated = parse->argc > 1 && optind > before;
	if (parse->separated && optind < parse->argc)
		parse->options.arguments = parse->argv + optind;
	return 0;
}

/* The first positional argument may name a command. */
static void parse_command(struct parse *parse)
{
	size_t i;

	parse->options.command = parse->commands[0];
	for (i = 0; parse->commands[i] && parse->position_count; i++) {
		if (strcmp(parse->commands[i]->name, parse->positions[0]) != 0)
			continue;
		parse->options.command = parse->commands[i];
		parse->position_count--;
		memmove(parse->positions, parse->positions + 1,
			parse->position_count * sizeof(parse->positions[0]));
		return;
	}
}

static bool text_is_digits(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

/* The command whose name was mistyped, or NULL. */
static const char *parse_suggest_command(const struct parse *parse, const char *text)
{
	const char *names[8] = { NULL };
	size_t i;

	for (i = 0; i + 1 < sizeof(names) / sizeof(names[0]) && parse->commands[i]; i++)
		names[i] = parse->commands[i]->name;
	return suggest_nearest(text, names);
}

/* A number that is more likely a process ID. */
static int parse_refuse_second_pid(struct parse *parse, const char *text)
{
	struct buffer pids = { 0 };
	size_t i;

	for (i = 0; i < parse->options.pid_count; i++)
		buffer_printf(&pids, "%d,", parse->options.pids[i]);
	buffer_append_string(&pids, text);
	USAGE(parse,
	      "'%s' is not an interval: a bare number is seconds, up to %d (write %ss if you mean "
	      "it); processes are given as -p %s",
	      text, BARE_SECONDS_MAX, text, pids.data);
	buffer_free(&pids);
	return -EINVAL;
}

static int parse_interval(struct parse *parse, const char *text)
{
	const char *nearest = parse_suggest_command(parse, text);
	uint64_t ns, seconds;

	if (nearest)
		return USAGE(parse, "'%s' is not an interval; did you mean 'tracer %s'?", text,
			     nearest);
	if (text_is_digits(text) && !units_parse_number(text, BARE_SECONDS_MAX, &seconds))
		return parse_refuse_second_pid(parse, text);
	if (isdigit((unsigned char)*text) && strchr(text, ','))
		return USAGE(parse, "'%s' is not an interval; processes are given as -p %s", text,
			     text);
	if (!units_parse_time(text, &ns) || ns > OPTIONS_TIME_MAX_NS)
		return USAGE(parse,
			     "'%s' is not an interval such as 2, 500ms or 5m; a command to start "
			     "is given as 'tracer -- %s'",
			     text, text);
	if (ns < INTERVAL_MIN_NS)
		return USAGE(parse, "an interval of '%s' is too short: at least 1ms", text);
	parse->options.interval_ns = ns;
	return 0;
}

/* [INTERVAL [COUNT]] */
static int parse_positions(struct parse *parse)
{
	int result;

	if (!parse->position_count)
		return 0;
	result = parse_interval(parse, parse->positions[0]);
	if (result || parse->position_count == 1)
		return result;
	if (parse->position_count > 2)
		return USAGE(parse,
			     "'%s' is one argument too many: only INTERVAL and COUNT are "
			     "positional; processes are given as -p PID,PID",
			     parse->positions[2]);
	if (!units_parse_number(parse->positions[1], UINT32_MAX, &parse->options.count) ||
	    !parse->options.count)
		return USAGE(parse, "'%s' is not a COUNT: a whole number of reports from 1 to %u",
			     parse->positions[1], UINT32_MAX);
	return 0;
}

/* Ways to say what is to be traced. Puts the first two that were given into `ret_given`. */
static size_t parse_count_targets(const struct options *options, const char *ret_given[2])
{
	const char *const ways[] = { options->pid_count ? "-p" : NULL,
				     options->arguments ? "'-- CMD'" : NULL,
				     options->comm ? "--comm" : NULL,
				     options->cgroup ? "--cgroup" : NULL,
				     options->container ? "--container" : NULL,
				     options->wait ? "-w" : NULL,
				     options->all ? "-a" : NULL };
	size_t i, count = 0;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!ways[i])
			continue;
		if (count < 2)
			ret_given[count] = ways[i];
		count++;
	}
	return count;
}

static int parse_check_target(struct parse *parse)
{
	const struct options *options = &parse->options;
	const char *given[2];
	size_t count = parse_count_targets(options, given);

	if (parse->separated && !options->arguments)
		return USAGE(parse, "'--' must be followed by a command to start");
	if (options->arguments && !*options->arguments[0])
		return USAGE(parse, "the command after '--' is empty");
	if (options->user && !options->arguments)
		return USAGE(parse, "-u/--user is for a command to start: 'tracer -u %s -- CMD'",
			     options->user);
	if (options->pid_count && options->arguments)
		return USAGE(parse,
			     "-p and '-- %s' exclude each other: trace running processes or start "
			     "a command",
			     options->arguments[0]);
	if (count > 1)
		return USAGE(parse, "%s and %s exclude each other", given[0], given[1]);
	if (count)
		return 0;
	if (parse->position_count && text_is_digits(parse->positions[0]))
		return USAGE(parse, "nothing to trace; did you mean 'tracer -p %s'?",
			     parse->positions[0]);
	return USAGE(parse,
		     "nothing to trace: use 'tracer -p PID' for a running process or 'tracer -- "
		     "CMD' to start one ('tracer -h' explains)");
}

/* Commands other than the default take only some of the options. */
static int parse_check_command(struct parse *parse)
{
	const char *name = parse->options.command->name;
	char label[OPTION_LABEL_MAX];
	size_t i;

	if (parse->options.command == parse->commands[0])
		return 0;
	for (i = 0; i < parse->row_count; i++)
		if (parse->seen >> i & 1 && !(parse->rows[i].flags & OPTION_ANY_COMMAND))
			return USAGE(parse, "%s has no meaning for 'tracer %s': leave it out",
				     option_label(&parse->rows[i], label), name);
	if (parse->position_count)
		return USAGE(parse, "'tracer %s' takes no INTERVAL: leave out '%s'", name,
			     parse->positions[0]);
	return 0;
}

static int parse_check_values(struct parse *parse)
{
	struct options *options = &parse->options;

	if (options->duration_ns && options->interval_ns)
		return USAGE(parse,
			     "-d/--duration gives one report, INTERVAL '%s' several: use one of "
			     "them ('tracer -p PID 2 5' ends after 5 reports)",
			     parse->positions[0]);
	if (options->min_size > options->max_size)
		return USAGE(parse,
			     "no block can be at least %llu (-z) and at most %llu (-Z) bytes long",
			     (unsigned long long)options->min_size,
			     (unsigned long long)options->max_size);
	if (options->follow_fork && options->no_follow_fork)
		return USAGE(parse, "--follow-fork and --no-follow-fork exclude each other");
	if (options->arguments)
		options->follow_fork = !options->no_follow_fork;
	if (!options->arguments && !options->duration_ns && !options->interval_ns)
		options->interval_ns = INTERVAL_DEFAULT_NS;
	return 0;
}

/* The rules beyond single arguments. */
static int parse_finish(struct parse *parse)
{
	int result;

	parse_command(parse);
	if (parse->options.action != ACTION_RUN)
		return 0;
	result = parse_check_command(parse);
	if (!result)
		result = parse_positions(parse);
	if (!result)
		result = parse_check_target(parse);
	if (!result)
		result = parse_check_values(parse);
	return result;
}

int options_parse(int argc, char *const *argv, const struct command *const *commands,
		  struct options *ret_options, struct error *error)
{
	struct parse parse = { .argc = argc, .argv = argv, .commands = commands, .error = error };
	int result;

	parse_prepare(&parse);
	result = parse_arguments(&parse);
	if (!result)
		result = parse_finish(&parse);
	free(parse.longs);
	free(parse.letters);
	if (result)
		options_free(&parse.options);
	else
		*ret_options = parse.options;
	return result;
}

void options_free(struct options *options)
{
	if (!options)
		return;
	free(options->pids);
	named_list_free(&options->named);
	options->pids = NULL;
	options->pid_count = options->pid_capacity = 0;
}

bool options_use_color(enum options_color color, bool terminal, const char *no_color,
		       const char *term)
{
	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal && term && *term && strcmp(term, "dumb") != 0;
}
