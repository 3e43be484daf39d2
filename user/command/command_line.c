/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getopt_long over the options of all commands, then what the command itself takes: see command.h. How each option is read
 * is in its row.
 */
#include "command/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "command/options_table.h"
#include "command/suggest.h"
#include "render/render.h"

/* What getopt_long returns for row 0 by its long name; above every letter. */
#define ROW_BASE 256
#define POSITIONS_MAX 8 /* the command, what it takes, and one too many so that it can be named */

/* A command line while it is read. */
struct parse {
	int argc;
	char *const *argv;
	const struct option_row **rows;
	size_t row_count;
	struct option *longs; /* for getopt_long, ended by a row of zeros */
	char *letters;
	bool *seen; /* row i was given */
	const char *positions[POSITIONS_MAX];
	size_t position_count;
	struct command_line line;
	struct options options;
	struct error *error;
};

#define USAGE(parse, ...) error_set((parse)->error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* Is the option one that an earlier command takes? */
static bool row_is_known(const struct command *const *commands, const struct command *const *end,
			 const struct option_row *row)
{
	for (; commands < end; commands++)
		if (command_takes(*commands, row))
			return true;
	return false;
}

const struct option_row **command_line_rows(const struct command *const *commands,
					    size_t *ret_count)
{
	const struct option_row **rows = NULL;
	const struct command *const *command;
	const struct option_list *const *list;
	const struct option_row *row;
	size_t capacity = 0, count = 0;

	for (command = commands; *command; command++)
		for (list = (*command)->options; *list; list++)
			for (row = (*list)->rows; row < (*list)->rows + (*list)->count; row++) {
				if (!command_takes(*command, row) ||
				    row_is_known(commands, command, row))
					continue;
				rows = memory_grow(rows, count, &capacity, sizeof(*rows));
				rows[count++] = row;
			}
	*ret_count = count;
	return rows;
}

/* The options in the two forms that getopt_long takes. */
static void parse_prepare(struct parse *parse)
{
	struct buffer letters = { 0 };
	size_t i;

	parse->rows = command_line_rows(parse->line.commands, &parse->row_count);
	parse->longs = memory_alloc(parse->row_count + 1, sizeof(*parse->longs));
	/* '-': hand out other arguments in their place; ':': distinguish a missing argument from an unknown option. */
	buffer_append_string(&letters, "-:");
	for (i = 0; i < parse->row_count; i++) {
		const struct option_row *row = parse->rows[i];

		parse->longs[i].name = row->name;
		parse->longs[i].has_arg = !row->argument		 ? no_argument
					  : row->flags & OPTION_OPTIONAL ? optional_argument
									 : required_argument;
		parse->longs[i].val = ROW_BASE + (int)i;
		if (row->letter)
			buffer_printf(&letters, "%c%.*s", row->letter, parse->longs[i].has_arg,
				      "::");
	}
	parse->letters = letters.data;
	parse->seen = memory_alloc(parse->row_count + 1, sizeof(*parse->seen));
	options_set_defaults(&parse->options);
}

/* The row that getopt_long means by a code, or NULL. */
static const struct option_row *parse_find_row(const struct parse *parse, int code)
{
	size_t i;

	if (code >= ROW_BASE && (size_t)(code - ROW_BASE) < parse->row_count)
		return parse->rows[code - ROW_BASE];
	for (i = 0; code && i < parse->row_count; i++)
		if (parse->rows[i]->letter == code)
			return parse->rows[i];
	return NULL;
}

/* The command that was named before, or else the first. */
static const struct command *parse_find_command(const struct parse *parse)
{
	const struct command *const *command;

	for (command = parse->line.commands; *command && parse->position_count; command++)
		if (!strcmp((*command)->name, parse->positions[0]))
			return *command;
	return parse->line.commands[0];
}

/* No command has such an option. */
static int parse_refuse_unknown(struct parse *parse, const char *dashes, const char *name)
{
	const struct command *command = parse_find_command(parse);

	if (command == parse->line.commands[0])
		return USAGE(parse, "unknown option '%s%s'; 'tracer -h' lists the options", dashes,
			     name);
	return USAGE(parse, "unknown option '%s%s'; 'tracer %s -h' lists the options", dashes, name,
		     command->name);
}

/* Are they the same option, perhaps by another name? */
static bool row_is_same(const struct option_row *row, const struct option_row *other)
{
	return !strcmp(row->name, other->name) ||
	       (((row->flags | other->flags) & OPTION_ALIAS) && row->store == other->store &&
		row->field == other->field);
}

/*
 * How many options of `command` (NULL = of any) `name` may abbreviate: the first one, and the names of all, which are appended
 * to `ret_names`.
 */
static size_t parse_find_abbreviated(const struct parse *parse, const struct command *command,
				     const char *name, const struct option_row **ret_first,
				     struct buffer *ret_names)
{
	const struct option_row **found =
		memory_alloc(parse->row_count + 1, sizeof(const struct option_row *));
	size_t i, j, count = 0;

	for (i = 0; i < parse->row_count; i++) {
		const struct option_row *row = parse->rows[i];

		if (strncmp(row->name, name, strlen(name)) != 0 ||
		    (command && !command_takes(command, row)))
			continue;
		for (j = 0; j < count && !row_is_same(row, found[j]); j++)
			;
		if (j < count)
			continue;
		buffer_printf(ret_names, "%s--%s", count ? ", " : "", row->name);
		found[count++] = row;
	}
	*ret_first = found[0];
	free(found);
	return count;
}

/* The visible option that a mistyped name is nearest to, or NULL. */
static const char *parse_suggest(const struct parse *parse, const char *name)
{
	const char **names = memory_alloc(parse->row_count + 1, sizeof(*names));
	size_t i, count = 0;
	const char *nearest;

	for (i = 0; i < parse->row_count; i++)
		if (!(parse->rows[i]->flags & OPTION_TESTING))
			names[count++] = parse->rows[i]->name;
	nearest = suggest_nearest(name, names);
	free(names);
	return nearest;
}

static void parse_add_position(struct parse *parse, const char *text)
{
	if (parse->position_count < POSITIONS_MAX)
		parse->positions[parse->position_count++] = text;
}

/* An optional argument that is a word of its own: getopt_long takes it for another one. */
static void parse_take_optional(const struct parse *parse)
{
	if (!optarg && optind < parse->argc && parse->argv[optind][0] != '-')
		optarg = parse->argv[optind++];
}

/* getopt_long gave `code`. Of long options of one name, that of the command. */
static const struct option_row *parse_choose_row(const struct parse *parse, int code)
{
	const struct option_row *row = parse_find_row(parse, code);
	const struct command *command = parse_find_command(parse);
	size_t i;

	if (code < ROW_BASE || command_takes(command, row))
		return row;
	for (i = 0; i < parse->row_count; i++)
		if (!strcmp(parse->rows[i]->name, row->name) &&
		    command_takes(command, parse->rows[i]))
			return parse->rows[i];
	return row;
}

static int parse_store(struct parse *parse, const struct option_row *row)
{
	char label[OPTION_LABEL_MAX];
	size_t i;

	if (row->flags & OPTION_OPTIONAL)
		parse_take_optional(parse);
	/* getopt_long knew another one of this name. */
	else if (row->argument && !optarg && optind < parse->argc)
		optarg = parse->argv[optind++];
	else if (row->argument && !optarg)
		return USAGE(parse, "%s needs an argument: %s", option_row_label(row, label),
			     row->argument);
	for (i = 0; i < parse->row_count; i++)
		parse->seen[i] |= parse->rows[i] == row;
	return row->store(row, row->argument ? optarg : NULL, &parse->options, parse->error);
}

static int parse_refuse_long(struct parse *parse, const char *name)
{
	const struct option_row *first;
	struct buffer names = { 0 };
	const char *nearest = parse_suggest(parse, name);
	size_t count =
		parse_find_abbreviated(parse, parse_find_command(parse), name, &first, &names);

	if (!count)
		count = parse_find_abbreviated(parse, NULL, name, &first, &names);
	if (count > 1)
		USAGE(parse, "option '--%s' is ambiguous: %s", name, names.data);
	else if (nearest)
		USAGE(parse, "unknown option '--%s'; did you mean '--%s'?", name, nearest);
	else
		parse_refuse_unknown(parse, "--", name);
	buffer_free(&names);
	return -EINVAL;
}

/*
 * A long option that getopt_long did not take, since its name begins as several do, or none. The command may have one of these only.
 * `given` still has its dashes and perhaps a value.
 */
static int parse_take_long(struct parse *parse, const char *given)
{
	size_t length = strcspn(given + 2, "=");
	const char *value = given[2 + length] ? given + 2 + length + 1 : NULL;
	char *name = memory_format("%.*s", (int)(length > 255 ? 255 : length), given + 2);
	const struct option_row *row;
	struct buffer names = { 0 };
	char label[OPTION_LABEL_MAX];
	int result;

	optarg = (char *)value;
	if (parse_find_abbreviated(parse, parse_find_command(parse), name, &row, &names) != 1)
		result = parse_refuse_long(parse, name);
	else if (value && !row->argument)
		result = USAGE(parse, "%s takes no argument, but got one in '%s'",
			       option_row_label(row, label), given);
	else
		result = parse_store(parse, row);
	buffer_free(&names);
	free(name);
	return result;
}

/* getopt_long gave `code`, '?' or ':', for the argument `given`. */
static int parse_refuse(struct parse *parse, int code, const char *given)
{
	const struct option_row *row = parse_find_row(parse, optopt);
	const char letter[] = { (char)optopt, '\0' };
	char label[OPTION_LABEL_MAX];

	if (code == ':' && row)
		return USAGE(parse, "%s needs an argument: %s", option_row_label(row, label),
			     row->argument);
	if (optopt >= ROW_BASE && row)
		return USAGE(parse, "%s takes no argument, but got one in '%s'",
			     option_row_label(row, label), given);
	if (!optopt)
		return parse_take_long(parse, given);
	return parse_refuse_unknown(parse, "-", letter);
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
			result = parse_store(parse, parse_choose_row(parse, code));
		if (result)
			return result;
	}
	/* Only "--" is taken without being handed out. Without arguments, optind is 1 at once. */
	parse->line.separated = parse->argc > 1 && optind > before;
	return 0;
}

/* The first positional argument may name a command. */
static void parse_command(struct parse *parse)
{
	size_t i;

	parse->line.command = parse->line.commands[0];
	for (i = 0; parse->line.commands[i] && parse->position_count; i++) {
		if (strcmp(parse->line.commands[i]->name, parse->positions[0]) != 0)
			continue;
		parse->line.command = parse->line.commands[i];
		parse->position_count--;
		memmove(parse->positions, parse->positions + 1,
			parse->position_count * sizeof(parse->positions[0]));
		return;
	}
}

/* The command whose name was mistyped, or NULL. */
const char *command_line_suggest(const struct command *const *commands, const char *text)
{
	const char *names[16] = { NULL };
	size_t i;

	for (i = 0; i + 1 < sizeof(names) / sizeof(names[0]) && commands[i]; i++)
		names[i] = commands[i]->name;
	return suggest_nearest(text, names);
}

/* What follows "--" is a program, or else more arguments. */
static void parse_rest(struct parse *parse)
{
	char *const *rest = parse->argv + optind;

	if (!parse->line.separated || optind >= parse->argc)
		return;
	if (parse->line.command->starts_program)
		parse->options.arguments = rest;
	else
		while (*rest)
			parse_add_position(parse, *rest++);
}

/* An option of another command. */
static int parse_refuse_option(struct parse *parse, const struct option_row *row)
{
	const struct command *command = parse->line.command;
	const char *reason = command_refuses(command, row);
	char label[OPTION_LABEL_MAX];

	option_row_label(row, label);
	if (reason)
		return USAGE(parse, "'tracer %s' takes no %s, since %s: leave it out",
			     command->name, label, reason);
	return USAGE(parse, "%s has no meaning for 'tracer %s': leave it out", label,
		     command->name);
}

static int parse_check_options(struct parse *parse)
{
	size_t i;

	for (i = 0; i < parse->row_count; i++)
		if (parse->seen[i] && !command_takes(parse->line.command, parse->rows[i]))
			return parse_refuse_option(parse, parse->rows[i]);
	return 0;
}

/* There is no row for the argument `text`. */
static int parse_refuse_position(struct parse *parse, const char *text)
{
	const struct argument_row *row = parse->line.command->arguments;
	struct buffer names = { 0 };

	if (!row->name)
		return USAGE(parse, "'tracer %s' takes no %s: leave out '%s'",
			     parse->line.command->name, parse->line.commands[0]->arguments[0].name,
			     text);
	for (; row->name; row++)
		buffer_printf(&names, "%s%s",
			      !names.length ? ""
			      : row[1].name ? ", "
					    : " and ",
			      row->name);
	USAGE(parse, "'%s' is one argument too many: only %s are positional%s", text, names.data,
	      command_takes(parse->line.command, options_table_target.rows)
		      ? "; processes are given as -p PID,PID"
		      : "");
	buffer_free(&names);
	return -EINVAL;
}

static int parse_positions(struct parse *parse)
{
	const struct argument_row *row = parse->line.command->arguments;
	int result = 0;
	size_t i;

	for (i = 0; i < parse->position_count && !result; i++, row++) {
		if (!row->name)
			return parse_refuse_position(parse, parse->positions[i]);
		result = row->store(&parse->line, parse->positions[i], &parse->options,
				    parse->error);
	}
	if (!result && row->name && !row->optional)
		return USAGE(parse, "'tracer %s' needs %s", parse->line.command->name, row->name);
	return result;
}

/* The ending of the file's name chooses the format, unless an option has. */
static void parse_choose_format(struct parse *parse)
{
	const struct options *options = &parse->options;
	const struct option_row *row = options_table_output.rows; /* --format */

	if (!options->format && options->output && command_takes(parse->line.command, row))
		parse->options.format = render_format_of_file(options->output);
	if (!options->format)
		parse->options.format = render_format_find("text");
}

/* The rules beyond single options. */
static int parse_finish(struct parse *parse)
{
	const struct command *command;
	int result;

	parse_command(parse);
	parse->options.command = parse->line.command;
	parse_choose_format(parse);
	if (parse->options.action != ACTION_RUN)
		return 0;
	parse_rest(parse);
	parse->line.position_count = parse->position_count;
	command = parse->line.command;
	result = parse_check_options(parse);
	if (!result)
		result = parse_positions(parse);
	if (!result && command->check)
		result = command->check(&parse->line, &parse->options, parse->error);
	return result;
}

int command_line_parse(int argc, char *const *argv, const struct command *const *commands,
		       struct options *ret_options, struct error *error)
{
	struct parse parse = { .argc = argc, .argv = argv, .error = error };
	int result;

	parse.line.commands = commands;
	parse.line.positions = parse.positions;
	parse_prepare(&parse);
	result = parse_arguments(&parse);
	if (!result)
		result = parse_finish(&parse);
	free(parse.rows);
	free(parse.longs);
	free(parse.letters);
	free(parse.seen);
	if (result)
		options_free(&parse.options);
	else
		*ret_options = parse.options;
	return result;
}
