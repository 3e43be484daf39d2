/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an error ends the program. */
#include "command/command.h"

#include <string.h>

int command_fail(const struct log *log, const struct error *error)
{
	/* An error without a kind is a defect of ours: it still must not look like success. */
	if (error->kind == ERROR_NONE) {
		log_write(log, LOG_ERROR, "internal error: a failure without a reason");
		return ERROR_PERMISSION;
	}
	log_write(log, LOG_ERROR, "%s", error->text);
	return (int)error->kind;
}

static bool command_lists(const struct command *command, const struct option_row *row)
{
	const struct option_list *const *list;

	for (list = command->options; *list; list++)
		if (row >= (*list)->rows && row < (*list)->rows + (*list)->count)
			return true;
	return false;
}

/* The note on an option of the command's lists, or NULL. */
static const struct command_note *command_note_on(const struct command *command,
						  const struct option_row *row)
{
	const struct command_note *note = command->notes;

	for (; note && note->name; note++)
		if (!strcmp(note->name, row->name) && command_lists(command, row))
			return note;
	return NULL;
}

bool command_takes(const struct command *command, const struct option_row *row)
{
	return command_lists(command, row) && !command_refuses(command, row);
}

const char *command_refuses(const struct command *command, const struct option_row *row)
{
	const struct command_note *note = command_note_on(command, row);

	return note ? note->refused : NULL;
}

const char *command_help_of(const struct command *command, const struct option_row *row)
{
	const struct command_note *note = command_note_on(command, row);

	return note && note->help ? note->help : row->help;
}
