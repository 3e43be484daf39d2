/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process to what it needs. For helpers of the tracer that read hostile files:
 * exploiting a bug in them must be worthless.
 */
#ifndef DECODE_SANDBOX_H
#define DECODE_SANDBOX_H

#include <stdint.h>

/*
 * Namespaces for a new child, as flags of clone(), in order of preference; terminated by 0. The
 * system may refuse each.
 */
extern const unsigned long sandbox_spaces[];

/*
 * Between fork and exec: keep no descriptor but `keep`, which becomes number 3, no terminal and no signal handler, and
 * gain no privilege by the exec. `user` is the user ID that the process had when it was forked.
 */
void sandbox_prepare(int keep, unsigned int user);

/*
 * Call after the exec: sets up own namespaces and an empty root directory, as far as the system
 * allows; a user ID that no other process has; no capability; and death with the parent.
 */
void sandbox_enter(const char *name);

/*
 * Call when nothing is left to open or fork: sets limits, including `memory` bytes of data, and a
 * seccomp filter. Returns 0, or a negative errno if the process could still do harm: then it must
 * not read anything.
 */
int sandbox_seal(uint64_t memory);

/* Allow `seconds` more of CPU time before the process is ended. */
void sandbox_allow_seconds(unsigned int seconds);

#endif
