/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion_zsh.h. Functions made of the tables, and then completion/tracer.zsh, which calls them. */
#include "command/completion_zsh.h"

#include <stdlib.h>

#include "command/command_line.h"
#include "command/completion_case.h"
#include "command/completion_kind.h"
#include "completion_texts.h"

/* What is called for each kind. */
static const char *const zsh_actions[] = {
	[COMPLETE_NOTHING] = " ",
	[COMPLETE_WORDS] = "",
	[COMPLETE_PIDS] = "_tracer_pids",
	[COMPLETE_PID_LIST] = "_tracer_pid_list",
	[COMPLETE_PROCESS_NAMES] = "_tracer_process_names",
	[COMPLETE_USERS] = "_users",
	[COMPLETE_FILES] = "_files",
	[COMPLETE_DIRECTORIES] = "_directories",
};

/* In single quotes, and what has a meaning in a specification of _arguments is escaped. */
static void zsh_append_text(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			buffer_append_string(out, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
			buffer_printf(out, "\\%c", *text);
		else
			buffer_printf(out, "%c", *text);
	}
}

static void zsh_append_commands(struct buffer *out, const struct command *const *commands)
{
	const struct command *const *command;

	buffer_append_string(out, "\n_tracer_name_command()\n{\n\tlocal -a commands=(\n");
	for (command = commands; *command; command++) {
		buffer_printf(out, "\t\t'%s:", (*command)->name);
		zsh_append_text(out, (*command)->summary);
		buffer_append_string(out, "'\n");
	}
	buffer_append_string(out, "\t)\n\t_describe command commands\n}\n");
	buffer_printf(out, "\ntypeset -g _tracer_default=%s\ntypeset -ga _tracer_commands=(",
		      commands[0]->name);
	for (command = commands; *command; command++)
		buffer_printf(out, "%s%s", (*command)->name, command[1] ? " " : ")\n");
}

/* One form of an option, "-p+" or "--pid=", as _arguments takes it. */
static void zsh_append_form(struct buffer *out, const struct command *command,
			    const struct option_row *row, const char *form)
{
	const enum completion_kind kind = completion_kind_of(row);

	buffer_printf(out, " \\\n\t\t\t'*%s[", form);
	zsh_append_text(out, command_help_of(command, row));
	buffer_append_string(out, "]");
	if (row->argument) {
		buffer_append_string(out, row->flags & OPTION_OPTIONAL ? "::" : ":");
		zsh_append_text(out, row->argument);
		buffer_printf(out, ":%s", zsh_actions[kind]);
	}
	if (kind == COMPLETE_WORDS) {
		buffer_append_string(out, "(");
		completion_append_words(out, command, row);
		buffer_append_string(out, ")");
	}
	buffer_append_string(out, "'");
}

static void zsh_append_option(struct buffer *out, const struct command *command,
			      const struct option_row *row)
{
	struct buffer form = { 0 };

	buffer_printf(&form, "--%s%s", row->name, row->argument ? "=" : "");
	zsh_append_form(out, command, row, form.data);
	buffer_clear(&form);
	buffer_printf(&form, "-%c%s", row->letter, row->argument ? "+" : "");
	if (row->letter)
		zsh_append_form(out, command, row, form.data);
	buffer_free(&form);
}

static void zsh_append_command(struct buffer *out, const struct command *command)
{
	const struct command *const alone[] = { command, NULL };
	size_t i, count;
	const struct option_row **rows = command_line_rows(alone, &count);

	buffer_printf(out, "\t%s)\n\t\t_arguments -s -S $rest", command->name);
	for (i = 0; i < count; i++)
		if (completion_offers(rows[i]))
			zsh_append_option(out, command, rows[i]);
	buffer_append_string(out, "\n\t\t;;\n");
	free(rows);
}

void completion_zsh_append(struct buffer *out, const struct command *const *commands)
{
	const struct command *const *command;
	size_t count;
	const struct option_row **rows = command_line_rows(commands, &count);

	buffer_append_string(out, "#compdef tracer\n# tracer(8): completion by zsh, which "
				  "'tracer --completion zsh' has written.\n");
	zsh_append_commands(out, commands);
	completion_case_append_property(out, commands, "_tracer_starts_program",
					completion_starts_program);
	completion_case_append_property(out, commands, "_tracer_takes_files",
					completion_takes_files);
	completion_case_append_takes(out, rows, count);
	buffer_append_string(
		out, "\n_tracer_command()\n{\n\tlocal -a rest\n\n"
		     "\tif [[ -z $2 ]]; then\n"
		     "\t\trest=('1:command:_tracer_name_command' '*: : ')\n"
		     "\telif _tracer_takes_files $1; then\n\t\trest=('*:file:_files')\n\tfi\n"
		     "\tcase $1 in\n");
	for (command = commands; *command; command++)
		zsh_append_command(out, *command);
	buffer_printf(out, "\tesac\n}\n\n%s", tracer_zsh);
	free(rows);
}
