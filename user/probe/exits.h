/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the result of a function can be read without a return probe, which puts another return address on the stack of the
 * target: no exception gets past it, code that walks its stack finds it, and a function that leaves its stack and comes
 * back to it (another fiber, a handler on an alternate stack) may lose it, which ends the process.
 *
 * Without one there are the function's return instructions, and those of the code that it jumps to instead of returning. They are
 * single-stepped. The result of a system call can be read behind it, at an instruction that mostly need not be.
 */
#ifndef PROBE_EXITS_H
#define PROBE_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/trap.h"
#include "system/elf_file.h"

/* A function with more of them is given up. */
#define EXITS_MAX 64

struct exit_site {
	uint64_t offset; /* in the file */
	/* What the stack pointer has to be raised by to be that of the entry. */
	uint32_t stack_bytes;
	/* Behind a system call, whose result is still as the kernel left it; otherwise a return instruction. */
	bool behind_call;
	/* After a failure the function may make the call once more. */
	bool retried;
	/* A jump to memset, memcpy or memmove, which return their first argument: that is the result. */
	bool in_argument;
};

struct exits {
	struct exit_site items[EXITS_MAX];
	size_t count;
	const char *refusal; /* why they cannot be known: a phrase, static */
};

/* A system call of which the result is the function's. */
struct exits_call {
	uint32_t number;
	struct probe_features features; /* of the kernel: what it need not single-step */
};

/* Does the code at a file offset lead, by way of the dynamic linker, to a function that returns its first argument? */
bool exits_returns_argument(struct elf_file *file, uint64_t entry);

/*
 * Find all exits of the function at file offset `entry` with `size` bytes (0 = unknown): on each
 * way from there to a return, the first one is passed with the result in its register. `call` may
 * be NULL. False, with the refusal, if there may be others than those that can be found, or there
 * is none.
 */
bool exits_find(struct elf_file *file, uint64_t entry, uint64_t size, const struct exits_call *call,
		struct exits *ret_exits);

#endif
