/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The completion script for fish. */
#ifndef COMMAND_COMPLETION_FISH_H
#define COMMAND_COMPLETION_FISH_H

#include "base/buffer.h"
#include "command/command.h"

/* Append the script. */
void completion_fish_append(struct buffer *out, const struct command *const *commands);

#endif
