/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion_kind.h. */
#include "command/completion_kind.h"

#include <stdlib.h>
#include <string.h>

#include "command/command_line.h"
#include "render/render.h"

static const struct {
	const char *argument;
	enum completion_kind kind;
} kinds[] = {
	{ "PID", COMPLETE_PIDS },
	{ "PID[,PID...]", COMPLETE_PID_LIST },
	{ "NAME", COMPLETE_PROCESS_NAMES },
	{ "[NAME]", COMPLETE_PROCESS_NAMES },
	{ "USER", COMPLETE_USERS },
	{ "FILE", COMPLETE_FILES },
	{ "MOMENT|FILE", COMPLETE_FILES },
	{ "DIR", COMPLETE_DIRECTORIES },
	{ "DIR|MODULE", COMPLETE_DIRECTORIES },
	{ "FORMAT", COMPLETE_WORDS },
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

enum completion_kind completion_kind_of(const struct option_row *row)
{
	size_t i;

	if (row->words)
		return COMPLETE_WORDS;
	for (i = 0; i < KIND_COUNT; i++)
		if (row->argument && !strcmp(kinds[i].argument, row->argument))
			return kinds[i].kind;
	return COMPLETE_NOTHING;
}

bool completion_starts_program(const struct command *command)
{
	return command->starts_program;
}

bool completion_takes_files(const struct command *command)
{
	return command->arguments[0].is_file;
}

void completion_append_words(struct buffer *out, const struct command *command,
			     const struct option_row *row)
{
	const struct render_format *format;
	const char *between = "";
	size_t i;

	for (i = 0; row->words && row->words[i]; i++)
		buffer_printf(out, "%s%s", i ? " " : "", row->words[i]);
	for (format = render_format_list(); !row->words && format->name; format++) {
		if (command && command->writes && !command->writes(format))
			continue;
		buffer_printf(out, "%s%s", between, format->name);
		between = " ";
	}
}

bool completion_has_fewer_words(const struct command *command, const struct option_row *row)
{
	return command->writes && !row->words && completion_kind_of(row) == COMPLETE_WORDS;
}

bool completion_offers(const struct option_row *row)
{
	return !(row->flags & (OPTION_TESTING | OPTION_ALIAS));
}

bool completion_has_namesake(const struct command *const *commands, const struct option_row *row)
{
	size_t i, count;
	const struct option_row **rows = command_line_rows(commands, &count);
	bool has = false;

	for (i = 0; i < count; i++)
		has |= rows[i] != row && !strcmp(rows[i]->name, row->name);
	free(rows);
	return has;
}
