/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters for the system calls of a process of the tracer's own. */
#ifndef SYSTEM_SECCOMP_H
#define SYSTEM_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A system call, and what one of its arguments must be for the rule to apply. 32 bits of an argument are compared, the low
 * ones by default: those of a flag word, a pid or a command.
 */
struct seccomp_rule {
	uint32_t call; /* SYS_* */
	uint32_t argument; /* 1 to 6; 0 = the rule applies whatever the arguments are */
	uint32_t mask, value; /* it applies if the argument & mask == value */
	bool high; /* of the high 32 bits instead: those of an address */
	bool unless; /* it applies if they differ */
};

/*
 * From now on the calls to which a rule applies are the only ones allowed (`allow`), or the only ones refused. What is
 * refused fails with EPERM; so do calls of the x32 ABI, and those of another architecture end the process. For all
 * threads, and for good. Needs no_new_privs. Returns 0, or a negative errno: nothing is filtered then.
 */
int seccomp_install(const struct seccomp_rule *rules, size_t count, bool allow);

#endif
