/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the counters at one moment: the waist of the program. Left of it are root, the kernel
 * and libbpf; right of it are pure functions. A live session, a recording and a unit test all make the
 * same structure.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/module.h"
#include "model/stack.h"
#include "model/target.h"
#include "tracer_abi.h"

/* Grow-only counters. In use = alloc - free, in bytes and in objects. */
struct counters {
	uint64_t alloc_bytes, alloc_objects;
	uint64_t free_bytes, free_objects;
};

/* An allocator function as the outputs name it. */
struct function_name {
	const char *allocator; /* "glibc", "jemalloc", ... */
	const char *function; /* "malloc", "operator new(unsigned long)", ... */
	bool sampled; /* it tells of some blocks, each for others too: counters are estimates */
};

struct snapshot_site {
	uint64_t key;
	const struct target *target;
	const struct function_name *function;
	enum memory_source source;
	const struct stack *stack; /* never NULL; may have no frames */
	struct counters counters;
	/* Of the blocks in use; meaningless when none is. With --min-age, of the counted ones. */
	uint64_t oldest_ns; /* age of the oldest block */
	unsigned __int128
		age_sum_ns; /* sum of the ages: divided by the in-use objects, the mean age */
	uint64_t young_bytes, young_objects; /* blocks in use that are younger than --min-age */
	bool ended; /* its program has ended: listed, but in no total */
	bool sampled; /* some of it is an estimate */
	uint64_t samples; /* that it is made from */
};

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t start_ns; /* CLOCK_MONOTONIC: when tracing began */
	int64_t wall_time; /* seconds since the epoch */
	const struct target *const *targets;
	size_t target_count;
	struct snapshot_site *sites; /* owned; in no order */
	size_t site_count;
	const struct module_list *modules;
	uint64_t loss[LOSS_COUNT];
};

/* Frees what the snapshot owns; targets, stacks and modules belong to the session or the recording. */
void snapshot_free(struct snapshot *snapshot);

#endif
