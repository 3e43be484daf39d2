/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion scripts for shells, made from the tables of commands, options and formats. */
#ifndef COMMAND_COMPLETION_H
#define COMMAND_COMPLETION_H

#include "base/buffer.h"
#include "command/command.h"

/* Append the script for a shell. */
void completion_append(struct buffer *out, const struct command *const *commands,
		       enum options_shell shell);

#endif
