/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies the program that a process executes: execve() keeps pid and start time, but replaces
 * the whole memory. The kernel gives each program its own auxiliary vector and random bytes.
 */
#ifndef SYSTEM_PROGRAM_IDENTITY_H
#define SYSTEM_PROGRAM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct program_identity {
	uint64_t start_time; /* of the process, in ticks since boot */
	uint64_t vector; /* a hash of the auxiliary vector */
	uint64_t random[2]; /* the bytes at AT_RANDOM */
	bool has_random; /* false if their page is not resident */
};

/* Returns 0, or a negative errno: -ESRCH if the process has gone, has no memory any more, or is between two programs. */
int program_identity_read(pid_t pid, struct program_identity *ret_identity);

/* Is it the same program, as far as both are known? */
bool program_identity_is_same(const struct program_identity *a, const struct program_identity *b);

#endif
