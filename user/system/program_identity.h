/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which program a process executes: execve() keeps the pid and the start time, and replaces all of the memory. The kernel gives each
 * program an auxiliary vector and random bytes of its own.
 */
#ifndef SYSTEM_PROGRAM_IDENTITY_H
#define SYSTEM_PROGRAM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct program_identity {
	uint64_t start_time; /* of the process, in ticks since boot */
	uint64_t vector; /* a hash of the auxiliary vector */
	uint64_t random[2]; /* what AT_RANDOM leads to */
	bool has_random; /* false where that page is not in memory */
};

/* Returns 0, or a negative errno: -ESRCH if the process has gone, has no memory any more, or is between two programs. */
int program_identity_read(pid_t pid, struct program_identity *ret_identity);

/* The same program, as far as it is known of both. */
bool program_identity_is_same(const struct program_identity *a, const struct program_identity *b);

#endif
