/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The completion script for zsh. */
#ifndef COMMAND_COMPLETION_ZSH_H
#define COMMAND_COMPLETION_ZSH_H

#include "base/buffer.h"
#include "command/command.h"

/* Append the script. */
void completion_zsh_append(struct buffer *out, const struct command *const *commands);

#endif
