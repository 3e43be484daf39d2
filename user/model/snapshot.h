/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the counters at one moment: the waist of the program. Left of it are root, the kernel
 * and libbpf; right of it are pure functions. A live session and a unit test make the same structure.
 * It holds all that it points to, so it can outlive what it was made from.
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

/* An allocator function as the outputs name it. */
struct function_name {
	const char *allocator; /* "glibc", "jemalloc", ... */
	const char *function; /* "malloc", "operator new(unsigned long)", ... */
	bool sampled; /* it publishes samples: counters are estimates */
};

struct snapshot_site {
	uint64_t key;
	uint64_t id; /* of a row: the same in the next snapshot; 0 = none */
	const struct target *target;
	const struct function_name *function;
	enum memory_source source;
	enum region region; /* what its blocks are for, where that is known */
	const struct stack *stack; /* never NULL; may have no frames */
	struct site_stats stats;
	/* Of what is in use, if the snapshot has marks; owned by the snapshot's sites. */
	struct generations births;
	/* Of a recording: the verdict's word when that was made, and the moment since which the site had it; NULL = none. */
	const char *word;
	uint64_t word_ns; /* CLOCK_MONOTONIC */
	bool ended; /* its program has ended: listed, but in no total */
	bool sampled; /* some of it is an estimate */
	/* Of a row of several sites: these, those of a process together. Sites as they were recorded have none. */
	const struct snapshot_site *members;
	size_t member_count;
	bool by_line; /* a row by a line of the application */
	bool left_out; /* not listed: no rule of --only fits a frame of it */
};

struct snapshot {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t start_ns; /* CLOCK_MONOTONIC: when tracing began */
	int64_t wall_time; /* seconds since the epoch */
	uint64_t id_seed; /* of the rows' ids: a secret, so that no target can choose one */
	const struct target **targets; /* those that a report lists */
	size_t target_count, target_capacity;
	struct snapshot_site *sites; /* in no order */
	size_t site_count, site_capacity;
	struct module_list *modules; /* of the frames; without descriptors */
	/* By which sites have their births, as times of intervals of a recording; and whether they have. */
	struct marks marks;
	bool births_known;
	uint64_t loss[LOSS_COUNT];
	struct price price;
	/* of tracing in windows; NULL = all calls were traced; owned */
	struct budget_report *budget;
	struct light_report *light; /* of tracing without frees; NULL = these are seen; owned */
	/* Of the functions below. */
	struct table target_copies, function_copies; /* by the address of what was copied */
	struct strings strings; /* of the functions */
	struct name_pool **names; /* of the frames */
	size_t name_count, name_capacity;
};

/* An empty snapshot. Free with snapshot_free. */
struct snapshot *snapshot_new(void);
void snapshot_free(struct snapshot *snapshot);

/* Copy the modules of the sites' frames. Once. */
void snapshot_set_modules(struct snapshot *snapshot, const struct module_list *modules);

/* Hold a pool that has names of frames. */
void snapshot_hold_names(struct snapshot *snapshot, struct name_pool *names);

/* The births of all sites of a row. Free with generations_free. */
struct generations snapshot_births(const struct snapshot_site *row);

/* The sites have their births by these marks, of which a copy is made. */
void snapshot_set_marks(struct snapshot *snapshot, const struct marks *marks);

/* List a copy of `target`. */
void snapshot_add_target(struct snapshot *snapshot, const struct target *target);

/*
 * Add a site with copies of its target and function, of which there is one for each address, and a share of its stack, whose
 * names must be in a pool that the snapshot holds.
 */
void snapshot_add_site(struct snapshot *snapshot, const struct snapshot_site *site);

#endif
