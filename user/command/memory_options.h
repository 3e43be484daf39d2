/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer memory` takes; its arguments are those of trace. */
#ifndef COMMAND_MEMORY_OPTIONS_H
#define COMMAND_MEMORY_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const memory_options[];
bool memory_options_writes(const struct render_format *format);
int memory_options_check(const struct command_line *line, struct options *options,
			 struct error *error);

/* Is the format text? Otherwise it is JSON or HTML. */
bool memory_options_is_text(const struct options *options);

#endif
