/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shell functions that both bash and zsh run, made from the tables: one `case` each. */
#ifndef COMMAND_COMPLETION_CASE_H
#define COMMAND_COMPLETION_CASE_H

#include "base/buffer.h"
#include "command/command.h"

/* Append the pattern of an option, "-p | --pid", with `before` in front of each form. */
void completion_case_append_option(struct buffer *out, const struct option_row *row,
				   const char *before);

/* Append _tracer_takes_argument: is $1 an option with an argument? */
void completion_case_append_takes(struct buffer *out, const struct option_row *const *rows,
				  size_t count);

/* Append the function `name`: does command $1 have the property? */
void completion_case_append_property(struct buffer *out, const struct command *const *commands,
				     const char *name, bool (*has)(const struct command *command));

#endif
