/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that handles SIGINT, SIGTERM and SIGHUP, so that they end the program whatever else it
 * is doing. It forwards the first one for an orderly end; if that takes too long, or at a second
 * SIGINT or SIGTERM, it ends the program at once. The kernel then releases everything that it holds
 * for the program.
 */
#ifndef SYSTEM_END_SIGNALS_H
#define SYSTEM_END_SIGNALS_H

#include <stdbool.h>

#include "base/error.h"

struct end_signals;

/*
 * Block these signals in the calling thread and those that it starts, and start the one that waits; it does so for the
 * rest of the program's life. TRACER_END_SECONDS of the environment is how long an orderly end may take, in place of
 * 5 seconds; once there are results, what the calling thread waits for a CPU does not count, up to three times as much.
 * `status` is the exit status of another end. Returns 0 or a negative errno with `error` filled.
 */
int end_signals_open(int status, struct end_signals **ret_signals, struct error *error);

/* The signal, blocked, that the caller of end_signals_open receives in place of the first one. */
int end_signals_number(void);

/* Is that signal pending? */
bool end_signals_are_pending(void);

/*
 * Has so much of the time for an orderly end passed that only the last report is worth waiting for?
 */
bool end_signals_are_urgent(void);

/* Has nearly all of it passed, waits for a CPU left out? For a report that is worth nothing unless it is whole. */
bool end_signals_are_late(void);

/*
 * The factor, at least 1, by which optional parts of a report may take longer, on a machine for
 * which TRACER_END_SECONDS is set.
 */
unsigned int end_signals_slowness(void);

/* There are results from now on, which an end without a report would lose. */
void end_signals_set_begun(void);

/*
 * All results are written: the rest is cleaning up, which the kernel does as well. An end at once is an orderly one from
 * now on, with exit status `status` and without a message.
 */
void end_signals_set_done(int status);

/*
 * Set a function that the thread runs just before it ends the program at once. Must be
 * async-signal-safe.
 */
void end_signals_set_last(void (*last)(void));

/* Have the thread give up all capabilities, and root for `user`; returns when it has. */
void end_signals_drop_privileges(struct end_signals *signals, unsigned int user);

#endif
