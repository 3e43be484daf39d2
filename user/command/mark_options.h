/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer mark` takes. */
#ifndef COMMAND_MARK_OPTIONS_H
#define COMMAND_MARK_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const mark_options[];
extern const struct argument_row mark_options_arguments[]; /* FILE NAME */

#endif
