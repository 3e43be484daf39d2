/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer record` takes; its arguments are those of trace. */
#ifndef COMMAND_RECORD_OPTIONS_H
#define COMMAND_RECORD_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const record_options[];
extern const struct command_note record_options_notes[];
int record_options_check(const struct command_line *line, struct options *options,
			 struct error *error);

#endif
