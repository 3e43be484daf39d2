/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own that lets a stopped process go on: on request, when the caller ends, however that is, and after a time where it
 * has stopped it itself. It keeps the privileges that the caller has when it is started. Where it is killed, the kernel lets the process go on, and so
 * it does where both are killed (last_signal.h).
 */
#ifndef SYSTEM_WATCHDOG_H
#define SYSTEM_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "system/last_signal.h"

struct watchdog {
	int pipe; /* for the request; -1 = there is none */
	int process; /* pidfd of the process that it is for; -1 = none */
	pid_t pid; /* of that */
	struct last_signal go; /* of the caller, in case that the watchdog does not answer */
	bool may_have_stopped; /* the process */
};

/* One that was not started. */
#define WATCHDOG_NONE ((struct watchdog){ -1, -1, 0, { -1, -1 }, false })

/*
 * Start one for process `pid`, which is the caller's child, or of which the caller may hold a pidfd. It is stopped by others, or with
 * `stop_ms` above 0 by watchdog_stop, for so long at most. Free with watchdog_close. Returns 0, or a negative errno with `error` filled.
 */
int watchdog_start(struct watchdog *watchdog, pid_t pid, int stop_ms, struct error *error);

/* Have the process stopped, by SIGSTOP. Its threads stop later. */
void watchdog_stop(struct watchdog *watchdog);

/*
 * Have the process go on, if it was stopped, and wait until it does. Nothing more is done for it from then on. SIGPIPE is ignored by then. False: it is
 * stopped by a signal still.
 */
bool watchdog_let_go(struct watchdog *watchdog);

/* Wait until the process has ended. False if that takes longer than `wait_ms`. */
bool watchdog_wait_end(const struct watchdog *watchdog, int wait_ms);

/* The same as watchdog_let_go, if that was not done. Accepts WATCHDOG_NONE. */
void watchdog_close(struct watchdog *watchdog);

#endif
