/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trap costs: a table of the instructions that a kernel need not single-step when it probes them. */
#ifndef PROBE_TRAP_H
#define PROBE_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a trap at an instruction costs. */
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

/* What every kernel that tracer supports does. */
struct probe_features probe_features_default(void);
/* What the kernel of this version does on this architecture, going by its sources. */
struct probe_features probe_features_for_kernel(unsigned int major, unsigned int minor);
/* What the running kernel does, by its version; probe_features_default() if that is not known. */
struct probe_features probe_features_running(void);

/* The cost of a probe on the instruction of `length` bytes that is at virtual address `address`. */
enum probe_cost trap_cost(const uint8_t *instruction, size_t length, uint64_t address,
			  const struct probe_features *features);

const char *probe_cost_name(enum probe_cost cost); /* "emulated", ... */

#endif
