/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper process that continues a stopped process: on request, when the caller ends for any
 * reason, and after a time limit if the helper has stopped it. It keeps the caller's privileges of
 * its start. If the helper is killed, or both are, the kernel continues the process
 * (last_signal.h).
 */
#ifndef SYSTEM_WATCHDOG_H
#define SYSTEM_WATCHDOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "system/last_signal.h"

struct watchdog {
	int pipe; /* for requests; -1 = no helper */
	int process; /* pidfd of the stopped process; -1 = none */
	pid_t pid; /* its pid */
	struct last_signal go; /* the caller's own signal, in case the watchdog does not answer */
	bool may_have_stopped; /* the watchdog may have stopped the process */
};

/* Not started. */
#define WATCHDOG_NONE ((struct watchdog){ -1, -1, 0, { -1, -1 }, false })

/*
 * Start a watchdog for process `pid`, which is the caller's child, or of which the caller may hold
 * a pidfd. The process is stopped by others, or, if `stop_ms` is above 0, by watchdog_stop, for at
 * most that long. Returns 0, or a negative errno with `error` filled. Free with watchdog_close.
 */
int watchdog_start(struct watchdog *watchdog, pid_t pid, int stop_ms, struct error *error);

/* Stop the process by SIGSTOP; its threads stop a little later. */
void watchdog_stop(struct watchdog *watchdog);

/*
 * Continue the process if it was stopped, and wait until it runs; the watchdog's work ends with
 * that. The caller must ignore SIGPIPE. False: the process is still stopped by a signal.
 */
bool watchdog_let_go(struct watchdog *watchdog);

/* Wait until the process has ended. False if that takes longer than `wait_ms`. */
bool watchdog_wait_end(const struct watchdog *watchdog, int wait_ms);

/* watchdog_let_go, if that was not called. Accepts WATCHDOG_NONE. */
void watchdog_close(struct watchdog *watchdog);

#endif
