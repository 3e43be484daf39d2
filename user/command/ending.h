/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a command: how it ended, and where it is stopped before it does, that it goes on. */
#ifndef COMMAND_ENDING_H
#define COMMAND_ENDING_H

#include <stdbool.h>

#include "base/log.h"
#include "session/session.h"
#include "system/spawn.h"
#include "system/watchdog.h"

/* Of a command that is stopped at its end. Start with {0}. */
struct ending {
	const struct log *log;
	const char *name; /* of the command */
	struct spawn *spawn; /* not owned; NULL = it is not stopped */
	struct watchdog watchdog;
};

/*
 * The command `spawn`, called `name`, is going to be stopped at its end: whatever becomes of the tracer, it goes on then. To be called early: what
 * is open then stays open. Returns 0 or a negative errno with `error` filled.
 */
int ending_open(struct ending *ending, struct spawn *spawn, const char *name, const struct log *log,
		struct error *error);

/* If it is stopped there, take the probes of `session`, which may be NULL, out, let it go on, and log how it ended. May be called again. */
void ending_let_go(struct ending *ending, struct session *session);

/* If the command has ended, log how. */
void ending_log(const struct log *log, const char *name, struct spawn *spawn);

#endif
