/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal that the kernel sends to another process when the caller ends for any reason, or on
 * request. It is the signal of a pipe's reading end, sent when the last writing end is closed. The
 * kernel checks permission by the caller's credentials at the time of opening.
 */
#ifndef SYSTEM_LAST_SIGNAL_H
#define SYSTEM_LAST_SIGNAL_H

#include <sys/types.h>

/*
 * Both ends; owned; close-on-exec; -1 = not open. A process that inherits them delays the signal.
 */
struct last_signal {
	int reading, writing;
};

/*
 * Prepare signal `number` for process `pid`. Returns 0 or a negative errno; then nothing is open.
 * Close with last_signal_close.
 */
int last_signal_open(struct last_signal *signal, pid_t pid, int number);

/* After arming, the end of the caller sends it. */
void last_signal_arm(const struct last_signal *signal);
void last_signal_disarm(const struct last_signal *signal);

/* Send it now, if it is armed. */
void last_signal_send(const struct last_signal *signal);

/* Close without sending. Accepts one that is not open. */
void last_signal_close(struct last_signal *signal);

#endif
