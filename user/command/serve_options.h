/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer serve` takes. */
#ifndef COMMAND_SERVE_OPTIONS_H
#define COMMAND_SERVE_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const serve_options[];
extern const struct command_note serve_options_notes[];
extern const struct argument_row serve_options_arguments[]; /* none */
int serve_options_check(const struct command_line *line, struct options *options,
			struct error *error);

/* Set the defaults that depend on the format of a page. */
void serve_options_set_format_defaults(struct options *options);

#endif
