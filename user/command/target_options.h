/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the options that select processes, common to several commands. */
#ifndef COMMAND_TARGET_OPTIONS_H
#define COMMAND_TARGET_OPTIONS_H

#include "command/command.h"

/* A selecting option other than a pid, and its value. */
struct target_selection {
	const char *option, *value;
};

#define TARGET_SELECTIONS 6

/* List the given ones. Returns their number. */
size_t target_options_list(const struct options *options,
			   struct target_selection ret_given[TARGET_SELECTIONS]);

/* Is any given, that is, are processes selected other than by pid? */
bool target_options_selects(const struct options *options);

/*
 * Check that the options select processes in exactly one way. Returns 0 or -EINVAL with `error`
 * filled.
 */
int target_options_check(const struct command_line *line, const struct options *options,
			 struct error *error);

/* Is the text a bare number, as a process ID is? */
bool target_options_is_number(const char *text);

#endif
