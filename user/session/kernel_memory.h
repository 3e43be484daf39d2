/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the maps of the kernel's own memory to snapshots of it: the same as those of processes, with the kernel as a process of its own, or with
 * the processes on whose behalf it has allocated.
 */
#ifndef SESSION_KERNEL_MEMORY_H
#define SESSION_KERNEL_MEMORY_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/history.h"
#include "kernel/maps.h"
#include "model/generations.h"
#include "model/snapshot.h"
#include "model/target.h"
#include "system/kallsyms.h"

struct kernel_memory;

/* All of it must outlive what is made of it. */
struct kernel_memory_options {
	const struct maps *maps; /* as kernel_programs_maps() has them */
	const struct kallsyms *symbols;
	/* A site is of the target of its target_id, the first one being 1; 0 is the first one, too. */
	const struct target *targets;
	size_t target_count;
	uint64_t min_age_ns; /* blocks in use that are younger are counted apart */
	const struct marks *marks; /* by which snapshots have births; NULL = they have none */
};

/* Tracing begins now. Free with kernel_memory_free. */
struct kernel_memory *kernel_memory_new(const struct kernel_memory_options *options);
/* Accepts NULL. */
void kernel_memory_free(struct kernel_memory *memory);

/*
 * The state of all counters at `time_ns`, without losses; it may outlive the memory. Pages that the allocator of smaller blocks has taken are
 * left out: their blocks are counted. Free with snapshot_free. Returns 0 or a negative errno.
 */
int kernel_memory_snapshot(struct kernel_memory *memory, uint64_t time_ns,
			   struct snapshot **ret_snapshot);

/* Keep what sites hold, for verdicts: cheap, since no block is read. */
void kernel_memory_keep_history(struct kernel_memory *memory, uint64_t time_ns,
				struct history *history);

#endif
