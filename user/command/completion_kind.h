/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a shell can offer for an argument. Derived from the argument's name in the help text, so new
 * options need nothing more.
 */
#ifndef COMMAND_COMPLETION_KIND_H
#define COMMAND_COMPLETION_KIND_H

#include "base/buffer.h"
#include "command/command.h"

enum completion_kind {
	COMPLETE_NOTHING, /* a number, a time, a pattern: no list of candidates */
	COMPLETE_WORDS, /* see completion_append_words */
	COMPLETE_PIDS, /* one process, offered by pid and name */
	COMPLETE_PID_LIST, /* several, comma-separated */
	COMPLETE_PROCESS_NAMES,
	COMPLETE_USERS,
	COMPLETE_FILES,
	COMPLETE_DIRECTORIES,
};

/* The kind of an option's argument. */
enum completion_kind completion_kind_of(const struct option_row *row);

/*
 * Append the words, separated by blanks, that an option of kind COMPLETE_WORDS accepts. Formats are
 * those that the command writes; NULL = all.
 */
void completion_append_words(struct buffer *out, const struct command *command,
			     const struct option_row *row);
/* Does the command accept only some of these words? */
bool completion_has_fewer_words(const struct command *command, const struct option_row *row);

/* Does a program follow "--"? Are the positional arguments file names? */
bool completion_starts_program(const struct command *command);
bool completion_takes_files(const struct command *command);

/* Should it be offered? Aliases and options for tests are accepted only. */
bool completion_offers(const struct option_row *row);

/* Is there another option of the same name? Then the meaning depends on the command. */
bool completion_has_namesake(const struct command *const *commands, const struct option_row *row);

#endif
