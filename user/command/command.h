/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands. Each is a file that exports one `const` descriptor with the options and arguments that
 * it takes. main.c lists the descriptors and needs nothing else of them.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/error.h"
#include "base/log.h"
#include "command/option_row.h"
#include "command/options.h"
#include "render/render.h"

/* A command line after its options have been parsed. */
struct command_line {
	/* NULL-terminated; the first is the default. */
	const struct command *const *commands;
	const struct command *command;
	const char *const *positions; /* the positional arguments */
	size_t position_count;
	bool separated; /* "--" was given */
};

/* A positional argument of a command. */
struct argument_row {
	const char *name; /* in help text and messages: "INTERVAL" */
	bool optional; /* so are those after it */
	/* Parse `text` into `options`. Returns 0 or -EINVAL with `error` filled. */
	int (*store)(const struct command_line *line, const char *text, struct options *options,
		     struct error *error);
	bool is_file; /* a file name, which a suffix may follow */
};

/* What is different about an option for one command. */
struct command_note {
	const char *name; /* of the option */
	const char *refused; /* why the command refuses it, a clause; NULL = it takes it */
	const char *help; /* replaces the row's help; NULL = keep it */
};

struct command {
	const char *name; /* as typed; the first command of the list is the default */
	const char *summary; /* a phrase for the help text */
	const struct option_list *const *options; /* the options it takes, NULL-terminated */
	/* Notes on some of them; the last has no name; NULL = none. */
	const struct command_note *notes;
	const struct argument_row *arguments; /* in order; the last has no name */
	bool starts_program; /* a program to start follows "--", else positional arguments */
	/* Does it write this format? NULL = all formats, if it takes --format. */
	bool (*writes)(const struct render_format *format);
	/*
	 * Check rules that involve several arguments, and fill in defaults that depend on others.
	 * Returns 0 or -EINVAL with `error` filled. NULL = no such rules.
	 */
	int (*check)(const struct command_line *line, struct options *options, struct error *error);
	/*
	 * Run the command; every message has been logged on return. Returns the exit status of the
	 * program: a result of exit_status_of or of command_fail.
	 */
	int (*run)(const struct options *options, const struct log *log);
};

extern const struct command command_trace; /* trace_taker.c */
extern const struct command command_plan; /* plan.c */
extern const struct command command_memory; /* memory.c */
extern const struct command command_leaks; /* leaks.c */
extern const struct command command_record; /* record.c */
extern const struct command command_report; /* report.c */
extern const struct command command_diff; /* diff.c */
extern const struct command command_mark; /* mark.c */
extern const struct command command_serve; /* serve.c */
extern const struct command command_top; /* top.c */
extern const struct command command_watch; /* watch.c */

/* Is the option in one of the command's lists, and not refused? */
bool command_takes(const struct command *command, const struct option_row *row);

/* Why the command refuses an option of its lists, a clause; NULL = it takes it. */
const char *command_refuses(const struct command *command, const struct option_row *row);

/* The option's help text, as it applies to the command. */
const char *command_help_of(const struct command *command, const struct option_row *row);

/* Log an error. Returns the exit status for it: its kind. */
int command_fail(const struct log *log, const struct error *error);

#endif
