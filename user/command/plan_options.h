/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer plan` takes. */
#ifndef COMMAND_PLAN_OPTIONS_H
#define COMMAND_PLAN_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const plan_options[];
extern const struct argument_row plan_options_arguments[]; /* none */
int plan_options_check(const struct command_line *line, struct options *options,
		       struct error *error);

#endif
