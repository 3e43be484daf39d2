/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program can be asked to do: one file per command, each exporting one `const` descriptor, with the options and
 * arguments that the command takes. main.c lists them and needs nothing else of them.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/error.h"
#include "base/log.h"
#include "command/option_row.h"
#include "command/options.h"
#include "render/render.h"

/* A command line whose options are read. */
struct command_line {
	/* Ended by NULL; the first is run when none is named. */
	const struct command *const *commands;
	const struct command *command;
	const char *const *positions; /* the arguments that are no options */
	size_t position_count;
	bool separated; /* "--" was given */
};

/* A positional argument of a command. */
struct argument_row {
	const char *name; /* as the help text and messages name it: "INTERVAL" */
	bool optional; /* so are those after it */
	/* Put the meaning of `text` into `options`. Returns 0 or -EINVAL with `error` filled. */
	int (*store)(const struct command_line *line, const char *text, struct options *options,
		     struct error *error);
	bool is_file; /* the name of one, perhaps with more behind it */
};

/* What differs from the table of an option, for one command. */
struct command_note {
	const char *name; /* of the option */
	const char *refused; /* why the command does not take it, a clause; NULL = it does */
	const char *help; /* instead of the row's; NULL = that */
};

struct command {
	const char *name; /* as typed; the first of the list is run when none is named */
	const char *summary; /* a phrase for the help text */
	const struct option_list *const *options; /* what it takes, ended by NULL */
	/* On some of them, ended by one without a name; NULL = none. */
	const struct command_note *notes;
	const struct argument_row *arguments; /* in their order, ended by one without a name */
	bool starts_program; /* what follows "--" is a program to start; otherwise positional arguments */
	/* Which formats it writes; NULL = all, if it takes --format. */
	bool (*writes)(const struct render_format *format);
	/*
	 * The rules that concern more than one argument; fills in defaults that depend on others. Returns 0 or -EINVAL with
	 * `error` filled. NULL = none.
	 */
	int (*check)(const struct command_line *line, struct options *options, struct error *error);
	/*
	 * Do the work; every message has been written to `log` when it returns. Returns the exit status of
	 * the program: 0; 1 where a threshold that was asked for was passed; what command_fail gives.
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

/* Why the command does not take an option of its lists, a clause, or NULL. */
const char *command_refuses(const struct command *command, const struct option_row *row);

/* The option's line of help, as it is for the command. */
const char *command_help_of(const struct command *command, const struct option_row *row);

/* Write to `log` what went wrong. Returns the exit status for it: its kind. */
int command_fail(const struct log *log, const struct error *error);

#endif
