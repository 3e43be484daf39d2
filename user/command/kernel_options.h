/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of --kernel: which options can be combined with it. */
#ifndef COMMAND_KERNEL_OPTIONS_H
#define COMMAND_KERNEL_OPTIONS_H

#include "command/command.h"

/*
 * Check the target: everything, or the allocations on behalf of the processes of -p. Returns 0 or
 * -EINVAL with `error` filled.
 */
int kernel_options_check_target(const struct command_line *line, const struct options *options,
				struct error *error);

/*
 * Check everything else, and fill in defaults. Does nothing without --kernel. Returns 0 or -EINVAL
 * with `error` filled.
 */
int kernel_options_check(struct options *options, struct error *error);

#endif
