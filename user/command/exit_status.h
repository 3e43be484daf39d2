/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit status of the program, from how a run has ended. Pure. */
#ifndef COMMAND_EXIT_STATUS_H
#define COMMAND_EXIT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The tracer has failed while the command ran, or after it. */
#define EXIT_STATUS_FAILED 125
/* Something was to be judged, and nothing could be. */
#define EXIT_STATUS_UNJUDGED 3

/* What a run was asked to find: lost blocks, leaks, too much in use. In order of importance. */
enum exit_finding { FINDING_NOTHING, FINDING_UNJUDGED, FINDING_FOUND };

struct exit_facts {
	enum error_kind error; /* ERROR_NONE = the tracer has done its work */
	enum exit_finding finding;
	bool has_command; /* a command was to be started, */
	bool is_started; /* was executed, */
	bool has_ended; /* and has ended, */
	int wait_status; /* with this wait status; -1 = unknown */
	uint64_t error_exitcode; /* of --error-exitcode; only with a command */
};

/*
 * The status for `facts`. Of a command: EXIT_STATUS_FAILED if the tracer failed after the start,
 * else `error_exitcode`, unless that is 0, for what was found, else the command's own status as
 * shells have it (128 + n for signal n), or 0 if it still runs.
 */
int exit_status_of(const struct exit_facts *facts);

#endif
