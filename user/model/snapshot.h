/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of all counters at one moment: the waist of the program. On one side are root, the
 * kernel and libbpf; on the other, pure functions. A live session, a recording and a unit test all
 * produce this structure. It owns all that it points to, so it can outlive its source.
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/budget_report.h"
#include "model/generations.h"
#include "model/light_report.h"
#include "model/module.h"
#include "model/name_pool.h"
#include "model/price.h"
#include "model/region.h"
#include "model/site_stats.h"
#include "model/stack.h"
#include "model/target.h"
#include "tracer_abi.h"

/* The output name of an allocator function. */
struct function_name {
	const char *allocator; /* "glibc", "jemalloc", ... */
	const char *function; /* "malloc", "operator new(unsigned long)", ... */
	bool sampled; /* it publishes samples: counters are estimates */
};

struct snapshot_site {
	uint64_t key;
	uint64_t id; /* of a row: stable across snapshots; 0 = none */
	const struct target *target;
	const struct function_name *function;
	enum memory_source source;
	enum region region; /* purpose of its blocks, if known */
	const struct stack *stack; /* never NULL; may have no frames */
	struct site_stats stats;
	/* Births of blocks in use, if the snapshot has marks; owned by the snapshot's sites. */
	struct generations births;
	/*
	 * From a recording: the verdict's word at that time, and since when the site had it; NULL =
	 * none.
	 */
	const char *word;
	uint64_t word_ns; /* CLOCK_MONOTONIC */
	bool ended; /* its program has ended: listed, but not in totals */
	bool sampled; /* includes estimates */
	/* For a row of several sites: the sites, grouped by process. Recorded sites have none. */
	const struct snapshot_site *members;
	size_t member_count;
	bool by_line; /* a row by a line of the application */
	bool mixed; /* a row of several places: by process, thread, module or function */
	bool left_out; /* not listed: no rule of --only matches any of its frames */
};

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t start_ns; /* CLOCK_MONOTONIC: when tracing began */
	int64_t wall_time; /* seconds since the epoch */
	uint64_t id_seed; /* secret seed of row ids, so that no target can choose one */
	const struct target **targets; /* targets that a report lists */
	size_t target_count, target_capacity;
	struct snapshot_site *sites; /* in no order */
	size_t site_count, site_capacity;
	struct module_list *modules; /* modules of the frames; without descriptors */
	/*
	 * The marks that births refer to, as interval times of a recording; and whether births are
	 * known.
	 */
	struct marks marks;
	bool births_known;
	uint64_t loss[LOSS_COUNT];
	struct price price;
	/* results of windows; NULL = all calls were traced; owned */
	struct budget_report *budget;
	struct light_report *light; /* results of --light; NULL = frees are seen; owned */
	/* Used by the functions below. */
	struct table target_copies, function_copies; /* by address of the original */
	struct strings strings; /* strings of the functions */
	struct name_pool **names; /* names of the frames */
	size_t name_count, name_capacity;
};

/* An empty snapshot. Free with snapshot_free. */
struct snapshot *snapshot_new(void);
void snapshot_free(struct snapshot *snapshot);

/* Copy the modules of the sites' frames. Call once. */
void snapshot_set_modules(struct snapshot *snapshot, const struct module_list *modules);

/* Take a reference to a pool of frame names. */
void snapshot_hold_names(struct snapshot *snapshot, struct name_pool *names);

/* Sum of the births of a row's sites. Free with generations_free. */
struct generations snapshot_births(const struct snapshot_site *row);

/* Set the marks that births refer to; copies them. */
void snapshot_set_marks(struct snapshot *snapshot, const struct marks *marks);

/* Add a copy of `target` to the list. */
void snapshot_add_target(struct snapshot *snapshot, const struct target *target);

/*
 * Add a site. Copies its target and function, once for each address, and takes a reference to its
 * stack, whose names must be in a pool that the snapshot holds.
 */
void snapshot_add_site(struct snapshot *snapshot, const struct snapshot_site *site);

/*
 * Has nothing been lost but parts of stacks and whole other processes, and no call of the present
 * program of process `pid` been seen?
 */
bool snapshot_saw_no_call(const struct snapshot *snapshot, int pid);

#endif
