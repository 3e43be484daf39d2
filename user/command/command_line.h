/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From argv to struct options. Parsing reads nothing but its arguments and changes nothing but its result:
 * whether a process exists or a file can be written is for others to find out.
 */
#ifndef COMMAND_COMMAND_LINE_H
#define COMMAND_COMMAND_LINE_H

#include "command/command.h"

/*
 * Parse a command line. `commands` is ended by NULL; its first entry is the default. Returns 0 with
 * `*ret_options` filled (free with options_free; argv must outlive it), or -EINVAL with `error` filled
 * (ERROR_USAGE). Not to be called from two threads at once: getopt keeps its place in globals.
 */
int command_line_parse(int argc, char *const *argv, const struct command *const *commands,
		       struct options *ret_options, struct error *error);

/*
 * The options that commands take, each once, in the order of the commands' lists; `*ret_count` gets their number. Free with
 * free(); the rows are the commands'.
 */
const struct option_row **command_line_rows(const struct command *const *commands,
					    size_t *ret_count);

/* The command whose name `text` resembles, or NULL. */
const char *command_line_suggest(const struct command *const *commands, const char *text);

#endif
