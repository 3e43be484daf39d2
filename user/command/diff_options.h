/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer diff` takes. */
#ifndef COMMAND_DIFF_OPTIONS_H
#define COMMAND_DIFF_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const diff_options[];
extern const struct argument_row diff_options_arguments[]; /* A B [C] */
bool diff_options_writes(const struct render_format *format);
int diff_options_check(const struct command_line *line, struct options *options,
		       struct error *error);

#endif
