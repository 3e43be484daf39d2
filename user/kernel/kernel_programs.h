/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs for the kernel's own memory (bpf/kernel_memory.bpf.c), at its tracepoints.
 * Opening attaches them; they record on request.
 */
#ifndef KERNEL_KERNEL_PROGRAMS_H
#define KERNEL_KERNEL_PROGRAMS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/maps.h"
#include "tracer_abi.h"

struct kernel_programs;

struct kernel_settings {
	uint64_t max_blocks, max_stacks; /* entries of the maps, which are preallocated */
	uint64_t stack_depth; /* frames, those of the tracing included: 1 to STACK_FRAMES_MAX */
	uint64_t min_size, max_size; /* bytes: other blocks are not recorded */
	/*
	 * Pids in the initial pid namespace; target_ids are 1, 2 and so on; none = all memory, as
	 * target 0.
	 */
	const int *pids;
	size_t pid_count;
};

/* Returns 0, or a negative errno with `error` filled. Free with kernel_programs_close. */
int kernel_programs_open(const struct kernel_settings *settings,
			 struct kernel_programs **ret_programs, struct error *error);

/* Detach the programs and free everything. Accepts NULL. */
void kernel_programs_close(struct kernel_programs *programs);

/* Set what is recorded. */
void kernel_programs_record(struct kernel_programs *programs, enum recording what);

/* MAPS_SITES, MAPS_STACKS, MAPS_KERNEL_BLOCKS and MAPS_KERNEL_CACHES. Valid as long as the programs. */
const struct maps *kernel_programs_maps(const struct kernel_programs *programs);

/* Add the programs' counters to `losses`. */
void kernel_programs_losses(const struct kernel_programs *programs, uint64_t losses[LOSS_COUNT]);

#endif
