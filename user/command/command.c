/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an error ends the program. */
#include "command/command.h"

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

bool command_takes(const struct command *command, const struct option_row *row)
{
	const struct option_list *const *list;

	for (list = command->options; *list; list++)
		if (row >= (*list)->rows && row < (*list)->rows + (*list)->count)
			return true;
	return false;
}
