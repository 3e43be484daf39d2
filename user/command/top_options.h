/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer top` takes. */
#ifndef COMMAND_TOP_OPTIONS_H
#define COMMAND_TOP_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const top_options[];
extern const struct command_note top_options_notes[];
extern const struct argument_row top_options_arguments[]; /* [INTERVAL] */
int top_options_check(const struct command_line *line, struct options *options,
		      struct error *error);

#endif
