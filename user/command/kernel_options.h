/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of --kernel: which options have a meaning beside it. */
#ifndef COMMAND_KERNEL_OPTIONS_H
#define COMMAND_KERNEL_OPTIONS_H

#include "command/command.h"

/* What is traced: all, or what was allocated for the processes of -p. Returns 0 or -EINVAL with `error` filled. */
int kernel_options_check_target(const struct command_line *line, const struct options *options,
				struct error *error);

/* Everything else; fills in defaults. Without --kernel, nothing. Returns 0 or -EINVAL with `error` filled. */
int kernel_options_check(struct options *options, struct error *error);

#endif
