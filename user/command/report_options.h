/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer report` takes. */
#ifndef COMMAND_REPORT_OPTIONS_H
#define COMMAND_REPORT_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const report_options[];
extern const struct argument_row report_options_arguments[]; /* FILE */
int report_options_check(const struct command_line *line, struct options *options,
			 struct error *error);

#endif
