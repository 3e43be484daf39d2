/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where the result of a function can be read without a return probe. A return probe replaces
 * the return address on the target's stack: exceptions cannot pass it, stack walkers see it, and a
 * function that leaves its stack and returns to it (another fiber, a handler on an alternate stack)
 * may lose it, which ends the process.
 *
 * The alternatives are the function's return instructions, and those of code that it jumps to
 * instead of returning; these are single-stepped. The result of a system call can be read at the
 * instruction behind it, which usually need not be.
 */
#ifndef PROBE_EXITS_H
#define PROBE_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/trap.h"
#include "elf/elf_file.h"

/* Limit of exits; a function with more is given up. */
#define EXITS_MAX 64

struct exit_site {
	uint64_t offset; /* in the file */
	/* Bytes to add to the stack pointer to get that of the entry. */
	uint32_t stack_bytes;
	/*
	 * Behind a system call, with the kernel's result unchanged; otherwise a return instruction.
	 */
	bool behind_call;
	/* After a failure the function may make the call once more. */
	bool retried;
	/* A jump to memset, memcpy or memmove, which return their first argument: that is the result. */
	bool in_argument;
};

struct exits {
	struct exit_site items[EXITS_MAX];
	size_t count;
	const char *refusal; /* why they are uncertain: static phrase */
};

/* A system call whose result is the function's result. */
struct exits_call {
	uint32_t number;
	struct probe_features features; /* of the kernel: which instructions it emulates */
};

/*
 * Does the code at a file offset lead, through the dynamic linker, to a function that returns its
 * first argument?
 */
bool exits_returns_argument(struct elf_file *file, uint64_t entry);

/*
 * Find all exits of the function at file offset `entry` with `size` bytes (0 = unknown): on each
 * path from there to a return, the first exit is passed with the result in its register. `call` may
 * be NULL. False, with the refusal, if some exits may not be found, or there is none.
 */
bool exits_find(struct elf_file *file, uint64_t entry, uint64_t size, const struct exits_call *call,
		struct exits *ret_exits);

#endif
