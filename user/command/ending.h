/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a started command: logs its exit status, and continues it if it was stopped there. */
#ifndef COMMAND_ENDING_H
#define COMMAND_ENDING_H

#include <stdbool.h>

#include "base/log.h"
#include "session/session.h"
#include "system/spawn.h"
#include "system/watchdog.h"

/* A command that is stopped at its end. Start with {0}. */
struct ending {
	const struct log *log;
	const char *name; /* of the command */
	struct spawn *spawn; /* not owned; NULL = not stopped at its end */
	struct watchdog watchdog;
};

/*
 * Prepare for the command `spawn`, called `name`, to be stopped at its end, and ensure that it
 * continues whatever happens to the tracer. Call early: descriptors that are open now stay open in
 * the watchdog. Returns 0 or a negative errno with `error` filled.
 */
int ending_open(struct ending *ending, struct spawn *spawn, const char *name, const struct log *log,
		struct error *error);

/*
 * If the command is stopped at its end, detach the probes of `session` (may be NULL), continue the
 * command and log how it ended. May be called again.
 */
void ending_let_go(struct ending *ending, struct session *session);

/* Log how the command ended, if it has. */
void ending_log(const struct log *log, const char *name, struct spawn *spawn);

#endif
