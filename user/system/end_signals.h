/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that waits for SIGINT, SIGTERM and SIGHUP, so that they end the program whatever else it is doing. It passes the
 * first one on, for an orderly end; when that takes too long, or at a second SIGINT or SIGTERM, it ends the program at once.
 * What the kernel holds for the program goes with it.
 */
#ifndef SYSTEM_END_SIGNALS_H
#define SYSTEM_END_SIGNALS_H

#include <stdbool.h>

#include "base/error.h"

struct end_signals;

/*
 * Block these signals in the calling thread and those that it starts, and start the one that waits; it does so for the
 * rest of the program's life. TRACER_END_SECONDS of the environment is how long an orderly end may take, in place of
 * 5 seconds. `status` is the exit status of another end. Returns 0 or a negative errno with `error` filled.
 */
int end_signals_open(int status, struct end_signals **ret_signals, struct error *error);

/* The signal that the caller of end_signals_open gets, blocked, in place of the first one. */
int end_signals_number(void);

/* Has it come, and was not taken? */
bool end_signals_are_pending(void);

/* Has so much of the time for an orderly end passed that nothing but the last report may be waited for? */
bool end_signals_are_urgent(void);

/*
 * How many times as long as elsewhere may what a report can do without take, on a machine for which TRACER_END_SECONDS is set?
 * 1 and more.
 */
unsigned int end_signals_slowness(void);

/* What is done in the thread just before it ends the program at once: async-signal-safe. */
void end_signals_set_last(void (*last)(void));

/* Let the thread give up all capabilities, and root for `user`. Returns when it has. */
void end_signals_drop_privileges(struct end_signals *signals, unsigned int user);

#endif
