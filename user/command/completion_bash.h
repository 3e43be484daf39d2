/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The completion script for bash. */
#ifndef COMMAND_COMPLETION_BASH_H
#define COMMAND_COMPLETION_BASH_H

#include "base/buffer.h"
#include "command/command.h"

/* Append the script. */
void completion_bash_append(struct buffer *out, const struct command *const *commands);

#endif
