/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion_fish.h. Functions made of the tables, then completion/tracer.fish, and a line per option. */
#include "command/completion_fish.h"

#include <stdlib.h>

#include "command/command_line.h"
#include "command/completion_kind.h"
#include "completion_texts.h"

/* What is offered for each kind; it is nothing else where there is a "-x". */
static const char *const fish_offers[] = {
	[COMPLETE_NOTHING] = " -x",
	[COMPLETE_WORDS] = " -x -a ",
	[COMPLETE_PIDS] = " -x -a '(__tracer_pids)'",
	[COMPLETE_PID_LIST] = " -x -a '(__fish_complete_list , __tracer_pids)'",
	[COMPLETE_PROCESS_NAMES] = " -x -a '(__tracer_process_names)'",
	[COMPLETE_USERS] = " -x -a '(__fish_complete_users)'",
	[COMPLETE_FILES] = " -r -F",
	[COMPLETE_DIRECTORIES] = " -x -a '(__fish_complete_directories)'",
};

static void fish_append_quoted(struct buffer *out, const char *text)
{
	buffer_append_string(out, "'");
	for (; *text; text++)
		buffer_printf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
	buffer_append_string(out, "'");
}

/* A function that is true for some words. */
static void fish_append_property(struct buffer *out, const struct command *const *commands,
				 const char *name, bool (*has)(const struct command *command))
{
	buffer_printf(out, "function %s\n\tcontains -- $argv[1]", name);
	for (; *commands; commands++)
		if (has(*commands))
			buffer_printf(out, " %s", (*commands)->name);
	buffer_append_string(out, "\nend\n\n");
}

static void fish_append_takes(struct buffer *out, const struct option_row *const *rows,
			      size_t count)
{
	size_t i;

	buffer_append_string(out, "function __tracer_takes_argument\n\tcontains -- $argv[1]");
	for (i = 0; i < count; i++) {
		if (rows[i]->argument && rows[i]->letter)
			buffer_printf(out, " -%c", rows[i]->letter);
		if (rows[i]->argument)
			buffer_printf(out, " --%s", rows[i]->name);
	}
	buffer_append_string(out, "\nend\n\n");
}

static void fish_append_names(struct buffer *out, const struct command *const *commands)
{
	buffer_printf(out, "set -g __tracer_default %s\nset -g __tracer_commands",
		      commands[0]->name);
	for (; *commands; commands++)
		buffer_printf(out, " %s", (*commands)->name);
	buffer_append_string(out, "\n\n");
}

static void fish_append_commands(struct buffer *out, const struct command *const *commands)
{
	for (; *commands; commands++) {
		buffer_printf(out, "complete -c tracer -n __tracer_is_unnamed -a %s -d ",
			      (*commands)->name);
		fish_append_quoted(out, (*commands)->summary);
		buffer_append_string(out, "\n");
		if (completion_takes_files(*commands))
			buffer_printf(out, "complete -c tracer -n '__tracer_is %s' -F\n",
				      (*commands)->name);
	}
}

/* What follows the condition: the option as it is for a command; NULL = for any. */
static void fish_append_form(struct buffer *out, const struct command *command,
			     const struct option_row *row)
{
	const enum completion_kind kind = completion_kind_of(row);

	buffer_printf(out, "' -l %s", row->name);
	if (row->letter)
		buffer_printf(out, " -s %c", row->letter);
	/* What may stand alone is not taken for one that needs an argument, unless there is something to offer. */
	if (row->argument && !(row->flags & OPTION_OPTIONAL && kind == COMPLETE_NOTHING))
		buffer_append_string(out, fish_offers[kind]);
	if (kind == COMPLETE_WORDS) {
		buffer_append_string(out, "'");
		completion_append_words(out, command, row);
		buffer_append_string(out, "'");
	}
	buffer_append_string(out, " -d ");
	fish_append_quoted(out, command ? command_help_of(command, row) : row->help);
	buffer_append_string(out, "\n");
}

/* Has the command a line of its own for the option? */
static bool fish_has_own(const struct command *command, const struct option_row *row)
{
	return command_help_of(command, row) != row->help ||
	       completion_has_fewer_words(command, row);
}

static void fish_append_option(struct buffer *out, const struct command *const *commands,
			       const struct option_row *row)
{
	const struct command *const *command;
	const char *before = "complete -c tracer -n '__tracer_is";

	for (command = commands; *command; command++) {
		if (!command_takes(*command, row) || fish_has_own(*command, row))
			continue;
		buffer_printf(out, "%s %s", before, (*command)->name);
		before = "";
	}
	if (!*before)
		fish_append_form(out, NULL, row);
	for (command = commands; *command; command++) {
		if (!command_takes(*command, row) || !fish_has_own(*command, row))
			continue;
		buffer_printf(out, "complete -c tracer -n '__tracer_is %s", (*command)->name);
		fish_append_form(out, *command, row);
	}
}

void completion_fish_append(struct buffer *out, const struct command *const *commands)
{
	size_t i, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	buffer_append_string(out, "# tracer(8): completion by fish, which "
				  "'tracer --completion fish' has written.\n\n");
	fish_append_names(out, commands);
	fish_append_property(out, commands, "__tracer_starts_program", completion_starts_program);
	fish_append_takes(out, rows, count);
	buffer_append_string(out, tracer_fish);
	fish_append_commands(out, commands);
	for (i = 0; i < count; i++)
		if (completion_offers(rows[i]))
			fish_append_option(out, commands, rows[i]);
	free(rows);
}
