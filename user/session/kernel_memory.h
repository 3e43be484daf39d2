/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes snapshots of the kernel's own memory from its BPF maps. They look like those of processes;
 * the target is the kernel itself, or each process on whose behalf it allocated.
 */
#ifndef SESSION_KERNEL_MEMORY_H
#define SESSION_KERNEL_MEMORY_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/history.h"
#include "kernel/maps.h"
#include "model/generations.h"
#include "model/snapshot.h"
#include "model/target.h"
#include "system/kallsyms.h"

struct kernel_memory;

/* Everything here must outlive the kernel_memory and its snapshots. */
struct kernel_memory_options {
	const struct maps *maps; /* from kernel_programs_maps() */
	const struct kallsyms *symbols;
	/* Indexed by the sites' target_id - 1; target_id 0 also means the first one. */
	const struct target *targets;
	size_t target_count;
	uint64_t min_age_ns; /* younger blocks in use are counted separately */
	const struct marks *marks; /* births are counted between these marks; NULL = they are not */
};

/* Start tracing. Free with kernel_memory_free. */
struct kernel_memory *kernel_memory_new(const struct kernel_memory_options *options);
/* Accepts NULL. */
void kernel_memory_free(struct kernel_memory *memory);

/*
 * A snapshot of all counters at `time_ns`, without losses; it may outlive `memory`. Leaves out
 * pages that the slab allocator has taken, since their blocks are counted. Free with snapshot_free.
 * Returns 0 or a negative errno.
 */
int kernel_memory_snapshot(struct kernel_memory *memory, uint64_t time_ns,
			   struct snapshot **ret_snapshot);

/* Add what sites hold to the history, for verdicts. Cheap: reads no blocks. */
void kernel_memory_keep_history(struct kernel_memory *memory, uint64_t time_ns,
				struct history *history);

#endif
