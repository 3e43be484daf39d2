/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper process that creates files and runs a command, for a program that has given up the right
 * to do either. It does only these two things, with what it was given at the start; it finds the
 * name of the next file itself. So an attacker who controls the program gains a new file and a run
 * of the user's own command, and no more.
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
	/*
	 * The file; or, if it makes files, the prefix of their names: ".1", ".2" follow, the next
	 * that does not exist.
	 */
	const char *path;
	bool makes_files;
	const char *const *reasons; /* indexed by number */
	size_t reason_count;
	const struct spawn_signals *signals; /* for the command */
};

struct runner {
	int socket; /* readable when the command has ended; -1 = no helper */
};

/*
 * Start the helper, while the caller may still create the files. It ends with the caller. The
 * command runs as the caller's user, in its own session, without standard input, with stderr as
 * output, and with the capabilities that privileges_drop leaves. Returns 0 or a negative errno with
 * `error` filled.
 */
int runner_start(struct runner *runner, const struct runner_options *options, struct error *error);

/*
 * Create the next file. Returns a descriptor to write to, or a negative errno with `error` filled.
 * `*ret_number`: its suffix.
 */
int runner_make_file(struct runner *runner, uint32_t *ret_number, struct error *error);

/* Start the command on the latest file; not while it runs. Returns 0 or a negative errno. */
int runner_run(struct runner *runner, size_t reason);

/*
 * Wait up to `wait_ms` for the command to end. Returns 1 with its wait status, 0 if it still runs,
 * or a negative errno if the helper is gone.
 */
int runner_take_end(struct runner *runner, int wait_ms, int *ret_status);

/* Close; a running command continues. */
void runner_close(struct runner *runner);

#endif
