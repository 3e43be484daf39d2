/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses argv into struct options. Reads only its arguments and changes only its result; whether a
 * process exists or a file is writable is checked elsewhere.
 */
#ifndef COMMAND_COMMAND_LINE_H
#define COMMAND_COMMAND_LINE_H

#include "command/command.h"

/*
 * Parse a command line. `commands` is NULL-terminated; its first entry is the default. Returns 0
 * with `*ret_options` filled (free with options_free; argv must outlive it), or -EINVAL with
 * `error` filled (ERROR_USAGE). Not thread-safe: getopt keeps its state in globals.
 */
int command_line_parse(int argc, char *const *argv, const struct command *const *commands,
		       struct options *ret_options, struct error *error);

/*
 * All options of the commands, each once, in the order of the commands' lists; `*ret_count` gets
 * their number. Free the array with free(); the rows belong to the commands.
 */
const struct option_row **command_line_rows(const struct command *const *commands,
					    size_t *ret_count);

/* The command whose name `text` resembles, or NULL. */
const char *command_line_suggest(const struct command *const *commands, const char *text);

#endif
