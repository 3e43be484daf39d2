/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal that the kernel sends to another process when the caller ends, however that is, or on request: it is the signal of a pipe's reading end,
 * and is due when the last writing end is closed. Whether the caller may send it is known by what it was when it opened this.
 */
#ifndef SYSTEM_LAST_SIGNAL_H
#define SYSTEM_LAST_SIGNAL_H

#include <sys/types.h>

/* Both ends are the caller's, and closed where it executes a program; -1 = not open. Who inherits them puts the signal off. */
struct last_signal {
	int reading, writing;
};

/* Signal `number` for process `pid`. Close it with last_signal_close. Returns 0 or a negative errno; then nothing is open. */
int last_signal_open(struct last_signal *signal, pid_t pid, int number);

/* From now on the caller's end sends it. */
void last_signal_arm(const struct last_signal *signal);
void last_signal_disarm(const struct last_signal *signal);

/* Send it now, if it is armed. */
void last_signal_send(const struct last_signal *signal);

/* Without sending it. Accepts one that is not open. */
void last_signal_close(struct last_signal *signal);

#endif
