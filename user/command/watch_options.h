/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer watch` takes. */
#ifndef COMMAND_WATCH_OPTIONS_H
#define COMMAND_WATCH_OPTIONS_H

#include "command/command.h"

extern const struct option_list *const watch_options[];
extern const struct command_note watch_options_notes[];

/* See `writes` and `check` of struct command. */
bool watch_options_writes(const struct render_format *format);
int watch_options_check(const struct command_line *line, struct options *options,
			struct error *error);

#endif
