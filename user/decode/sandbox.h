/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking away from a process everything that it does not need. For helpers of the tracer that read hostile files:
 * a bug in them must not be worth anything.
 */
#ifndef DECODE_SANDBOX_H
#define DECODE_SANDBOX_H

/*
 * After a fork: keep no descriptor but `keep`, no terminal, no signal handler, no privilege and no user ID
 * that owns anything, and die with the parent. What the system refuses to take is kept in silence: the tracer may run
 * without the right to change its user.
 */
void sandbox_enter(const char *name, int keep);

/* Once there is nothing left to open or fork: limits, and a filter for system calls. */
void sandbox_seal(void);

/* Allow `seconds` more of CPU time before the process is ended. */
void sandbox_allow_seconds(unsigned int seconds);

#endif
