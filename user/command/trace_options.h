/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer trace` takes. */
#ifndef COMMAND_TRACE_OPTIONS_H
#define COMMAND_TRACE_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const trace_options[];
extern const struct argument_row trace_options_arguments[]; /* [INTERVAL [COUNT]] */
int trace_options_check(const struct command_line *line, struct options *options,
			struct error *error);

#endif
