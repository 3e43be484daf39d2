/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a shell can offer for an argument: found by how the help text names it, so that a new option has it at once. */
#ifndef COMMAND_COMPLETION_KIND_H
#define COMMAND_COMPLETION_KIND_H

#include "base/buffer.h"
#include "command/command.h"

enum completion_kind {
	COMPLETE_NOTHING, /* a number, a time, a pattern: there is no list of them */
	COMPLETE_WORDS, /* see completion_append_words */
	COMPLETE_PIDS, /* one process, by its number and name */
	COMPLETE_PID_LIST, /* several, with commas between */
	COMPLETE_PROCESS_NAMES,
	COMPLETE_USERS,
	COMPLETE_FILES,
	COMPLETE_DIRECTORIES,
};

/* Of an option. */
enum completion_kind completion_kind_of(const struct option_row *row);

/*
 * Append the words that an option of the kind COMPLETE_WORDS accepts, with blanks between. Of formats, those that the command
 * writes; NULL = all.
 */
void completion_append_words(struct buffer *out, const struct command *command,
			     const struct option_row *row);
/* Are some of them for other commands only? */
bool completion_has_fewer_words(const struct command *command, const struct option_row *row);

/* Does what follows "--" begin with a program? Are positional arguments names of files? */
bool completion_starts_program(const struct command *command);
bool completion_takes_files(const struct command *command);

/* Is it offered? Other names of an option, and those for tests, are accepted only. */
bool completion_offers(const struct option_row *row);

/* Has another option of a command the same name? Then it must be known which command it is. */
bool completion_has_namesake(const struct command *const *commands, const struct option_row *row);

#endif
