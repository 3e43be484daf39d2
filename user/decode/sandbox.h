/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking away from a process everything that it does not need. For helpers of the tracer that read hostile files:
 * a bug in them must not be worth anything.
 */
#ifndef DECODE_SANDBOX_H
#define DECODE_SANDBOX_H

#include <stdint.h>

/*
 * Namespaces that a child is to be created in, as flags of clone(), the ones to be preferred first; ended by 0. Each may be
 * refused by the system.
 */
extern const unsigned long sandbox_spaces[];

/*
 * Between fork and exec: keep no descriptor but `keep`, which becomes number 3, no terminal and no signal handler, and
 * gain no privilege by the exec. `user` is the user ID that the process had when it was forked.
 */
void sandbox_prepare(int keep, unsigned int user);

/*
 * After the exec: namespaces of its own and an empty root directory, as far as the system allows; a user ID that no other process
 * has; no capability; and an end with the parent.
 */
void sandbox_enter(const char *name);

/*
 * Once there is nothing left to open or fork: limits, `memory` bytes of data among them, and a filter for system calls.
 * Returns 0, or a negative errno if the process could still do harm: then it must not read anything.
 */
int sandbox_seal(uint64_t memory);

/* Allow `seconds` more of CPU time before the process is ended. */
void sandbox_allow_seconds(unsigned int seconds);

#endif
