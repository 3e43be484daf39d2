/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program can be asked to do: one file per command, each exporting one `const` descriptor. main.c
 * lists them; this header is all that it knows of them.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "base/error.h"
#include "base/log.h"
#include "command/options.h"

struct command {
	const char *name; /* as typed; the first of the list is run when none is named */
	const char *summary; /* a phrase for the help text */
	/*
	 * Do the work; every message has been written to `log` when it returns. Returns the exit status of
	 * the program: 0; 1 where a threshold that was asked for was passed; what command_fail gives.
	 */
	int (*run)(const struct options *options, const struct log *log);
};

extern const struct command command_trace; /* trace.c */
extern const struct command command_plan; /* plan.c */

/* Say on `log` what went wrong. Returns the exit status for it: its kind. */
int command_fail(const struct log *log, const struct error *error);

/* Print the version or the help text on stdout, as `options` ask. Returns the exit status. */
int command_inform(const struct options *options, const struct command *const *commands,
		   const struct log *log);

#endif
