/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Installs seccomp filters in the tracer's own processes. */
#ifndef SYSTEM_SECCOMP_H
#define SYSTEM_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A system call, and an optional condition on one argument. Compares 32 bits of the argument, by
 * default the low ones: a flag word, a pid or a command.
 */
struct seccomp_rule {
	uint32_t call; /* SYS_* */
	uint32_t argument; /* 1 to 6; 0 = the rule applies whatever the arguments are */
	uint32_t mask, value; /* the condition: argument & mask == value */
	bool high; /* compare the high 32 bits instead: part of an address */
	bool unless; /* negate the condition */
};

/*
 * Allow only the calls that match a rule (`allow`), or refuse just these. A refused call fails with
 * EPERM; so do calls of the x32 ABI; a call of another architecture kills the process. For all
 * threads, and for good. Needs no_new_privs. Returns 0, or a negative errno: nothing is filtered
 * then.
 */
int seccomp_install(const struct seccomp_rule *rules, size_t count, bool allow);

#endif
