/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of traps: a table of the instructions that a kernel emulates instead of single-stepping
 * them.
 */
#ifndef PROBE_TRAP_H
#define PROBE_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cost of a trap at an instruction. */
enum probe_cost {
	COST_UNKNOWN = 0,
	COST_EMULATED, /* one trap */
	COST_STEPPED, /* a trap and an out-of-line single step */
	COST_OPTIMIZED, /* no trap: the kernel turns it into a call */
};

/* What the running kernel does with a probed instruction. */
struct probe_features {
	bool emulates_push; /* push of a register */
	bool emulates_branch; /* call, jmp and conditional jumps to a fixed target */
	bool emulates_nop; /* the one-byte nop */
	bool emulates_long_nop; /* nops of two to nine bytes */
	bool optimizes_nop5; /* the five-byte nop becomes a call */
};

/* The minimum of all supported kernels. */
struct probe_features probe_features_default(void);
/* The features of a kernel version on this architecture, according to its sources. */
struct probe_features probe_features_for_kernel(unsigned int major, unsigned int minor);
/* The features of the running kernel, by its version; probe_features_default() if unknown. */
struct probe_features probe_features_running(void);

/* The cost of a probe on the instruction of `length` bytes that is at virtual address `address`. */
enum probe_cost trap_cost(const uint8_t *instruction, size_t length, uint64_t address,
			  const struct probe_features *features);

const char *probe_cost_name(enum probe_cost cost); /* "emulated", ... */

#endif
