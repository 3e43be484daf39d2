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
#include "model/site_stats.h"
#include "model/stack.h"
#include "model/target.h"
#include "tracer_abi.h"

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
	struct site_stats stats;
	bool ended; /* its program has ended: listed, but in no total */
	bool sampled; /* some of it is an estimate */
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
