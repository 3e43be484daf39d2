/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer leaks` takes. */
#ifndef COMMAND_LEAKS_OPTIONS_H
#define COMMAND_LEAKS_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const leaks_options[];
extern const struct command_note leaks_options_notes[];
extern const struct argument_row leaks_options_arguments[]; /* none */
bool leaks_options_writes(const struct render_format *format);
int leaks_options_check(const struct command_line *line, struct options *options,
			struct error *error);

#endif
