/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that makes files and runs a command, for a program that may do neither any more when they are wanted. It does nothing
 * but these two things, with what it was given at the start: which file is next, it finds out by itself. So who takes the
 * program over gets a new file by it and the user's own command, and no more.
 */
#ifndef SYSTEM_RUNNER_H
#define SYSTEM_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "system/spawn.h"

struct runner_options {
	/* For "sh -c": $1 and $TRACER_REPORT are the file, $TRACER_TRIGGER is the reason. */
	const char *command;
	/* The file; or, if it is to make files, how their names begin: ".1", ".2" follows, the next that is not there. */
	const char *path;
	bool makes_files;
	const char *const *reasons; /* by their numbers */
	size_t reason_count;
	const struct spawn_signals *signals; /* for the command */
};

struct runner {
	int socket; /* readable when the command has ended; -1 = there is no such process */
};

/*
 * Start the process; to be called while the caller has the privileges to make the files. It ends with the caller. The command has the user of the
 * caller, a session of its own, no standard input, standard error as its output, and of capabilities those of
 * privileges_drop. Returns 0 or a negative errno with `error` filled.
 */
int runner_start(struct runner *runner, const struct runner_options *options, struct error *error);

/* Make the next file. Returns a descriptor to write to, or a negative errno with `error` filled. `*ret_number`: its ending. */
int runner_make_file(struct runner *runner, uint32_t *ret_number, struct error *error);

/* Start the command on the file that was made last. Not while it runs. Returns 0 or a negative errno. */
int runner_run(struct runner *runner, size_t reason);

/*
 * Has the command ended? Returns 1 with its wait status, 0 if it runs, or a negative errno if the process is gone. Waits up to `wait_ms`
 * for it.
 */
int runner_take_end(struct runner *runner, int wait_ms, int *ret_status);

/* A command that runs goes on. */
void runner_close(struct runner *runner);

#endif
