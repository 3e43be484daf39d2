/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help text, made from the tables of commands, options and formats. */
#ifndef COMMAND_HELP_H
#define COMMAND_HELP_H

#include "base/buffer.h"
#include "command/command.h"

/*
 * Append the help text of a command, which has a page in help_pages.c; that of the first command is
 * also the overview. `verbose` adds the options that are for tests.
 */
void help_append(struct buffer *out, const struct command *const *commands,
		 const struct command *command, bool verbose);

/* Print the version or the help text to stdout, as `options` ask. Returns the exit status. */
int help_inform(const struct options *options, const struct command *const *commands,
		const struct log *log);

#endif
