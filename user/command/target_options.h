/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all commands that look at processes check of their options. */
#ifndef COMMAND_TARGET_OPTIONS_H
#define COMMAND_TARGET_OPTIONS_H

#include "command/command.h"

/* An option that selects processes by what they are, and its value. */
struct target_selection {
	const char *option, *value;
};

#define TARGET_SELECTIONS 6

/* Those that were given. Returns how many. */
size_t target_options_list(const struct options *options,
			   struct target_selection ret_given[TARGET_SELECTIONS]);

/* Is there an option that selects processes by what they are, and not by their pids? */
bool target_options_selects(const struct options *options);

/* Does exactly one way select the processes? Returns 0 or -EINVAL with `error` filled. */
int target_options_check(const struct command_line *line, const struct options *options,
			 struct error *error);

/* Is the text a bare number, as a process ID is? */
bool target_options_is_number(const char *text);

#endif
