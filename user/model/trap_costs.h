/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of traps on a host, excluding the BPF programs. */
#ifndef MODEL_TRAP_COSTS_H
#define MODEL_TRAP_COSTS_H

#include <stdint.h>

/* Nanoseconds of CPU time; 0 = not known. */
struct trap_costs {
	uint32_t emulated_ns; /* at an instruction that the kernel emulates */
	uint32_t stepped_ns; /* at an instruction that it single-steps */
	uint32_t optimized_ns; /* at a five-byte nop that it turns into a call */
	uint32_t return_ns; /* at a return */
};

#endif
