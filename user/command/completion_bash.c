/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion_bash.h. Functions made of the tables, and then completion/tracer.bash, which calls them. */
#include "command/completion_bash.h"

#include <stdlib.h>

#include "base/memory.h"
#include "command/command_line.h"
#include "command/completion_case.h"
#include "command/completion_kind.h"
#include "completion_texts.h"

/* What is called for each kind. */
static const char *const bash_functions[] = {
	[COMPLETE_NOTHING] = ":",
	[COMPLETE_WORDS] = "_tracer_words ",
	[COMPLETE_PIDS] = "_tracer_pids",
	[COMPLETE_PID_LIST] = "_tracer_pids ,",
	[COMPLETE_PROCESS_NAMES] = "_tracer_process_names",
	[COMPLETE_USERS] = "_tracer_users",
	[COMPLETE_FILES] = "_tracer_files",
	[COMPLETE_DIRECTORIES] = "_tracer_directories",
};

static void bash_append_commands(struct buffer *out, const struct command *const *commands)
{
	buffer_printf(out, "_tracer_default=%s\n_tracer_commands=\"", commands[0]->name);
	for (; *commands; commands++)
		buffer_printf(out, "%s%s", (*commands)->name, commands[1] ? " " : "\"\n");
}

static void bash_append_options(struct buffer *out, const struct command *const *commands)
{
	size_t i, count;

	buffer_append_string(out, "\n_tracer_options()\n{\n\tcase $1 in\n");
	for (; *commands; commands++) {
		const struct command *const alone[] = { *commands, NULL };
		const struct option_row **rows = command_line_rows(alone, &count);

		buffer_printf(out, "\t%s) echo \"", (*commands)->name);
		for (i = 0; i < count; i++)
			if (completion_offers(rows[i]))
				buffer_printf(out, " --%s", rows[i]->name);
		buffer_append_string(out, "\" ;;\n");
		free(rows);
	}
	buffer_append_string(out, "\tesac\n}\n");
}

/* What an option of a command takes; NULL = of any. */
static void bash_append_clause(struct buffer *out, const struct command *command,
			       const struct option_row *row)
{
	const enum completion_kind kind = completion_kind_of(row);
	char *before = memory_format("%s\\ ", command ? command->name : "*");

	buffer_append_string(out, "\t");
	completion_case_append_option(out, row, before);
	buffer_printf(out, ") %s", bash_functions[kind]);
	if (kind == COMPLETE_WORDS)
		completion_append_words(out, command, row);
	buffer_append_string(out, " ;;\n");
	free(before);
}

/* Of several options of one name each command has its own, and perhaps words of its own. */
static void bash_append_argument(struct buffer *out, const struct command *const *commands,
				 const struct option_row *row)
{
	const bool has_namesake = completion_has_namesake(commands, row);

	for (; *commands; commands++)
		if (command_takes(*commands, row) &&
		    (has_namesake || completion_has_fewer_words(*commands, row)))
			bash_append_clause(out, *commands, row);
	if (!has_namesake)
		bash_append_clause(out, NULL, row);
}

static void bash_append_arguments(struct buffer *out, const struct command *const *commands,
				  const struct option_row *const *rows, size_t count)
{
	size_t i;

	buffer_append_string(out, "\n_tracer_argument()\n{\n\tcase $1 in\n");
	for (i = 0; i < count; i++)
		if (rows[i]->argument)
			bash_append_argument(out, commands, rows[i]);
	buffer_append_string(out, "\tesac\n}\n");
}

void completion_bash_append(struct buffer *out, const struct command *const *commands)
{
	size_t count;
	const struct option_row **rows = command_line_rows(commands, &count);

	buffer_append_string(out, "# tracer(8): completion by bash, which "
				  "'tracer --completion bash' has written.\n\n");
	bash_append_commands(out, commands);
	completion_case_append_property(out, commands, "_tracer_starts_program",
					completion_starts_program);
	completion_case_append_property(out, commands, "_tracer_takes_files",
					completion_takes_files);
	bash_append_options(out, commands);
	completion_case_append_takes(out, rows, count);
	bash_append_arguments(out, commands, rows, count);
	buffer_printf(out, "\n%s", tracer_bash);
	free(rows);
}
