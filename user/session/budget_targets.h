/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of --budget: the memory and the heap of each, and the CPU time of all, of which tracing has its share. There may be
 * as many as a machine has, so they are looked at in turns.
 */
#ifndef SESSION_BUDGET_TARGETS_H
#define SESSION_BUDGET_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "heap/image.h"
#include "model/budget_report.h"
#include "session/budget_census.h"
#include "session/budget_cohort.h"
#include "session/process_table.h"

/* Processes that are looked at in one pass, at most, and whose mappings are listed before a window. */
#define BUDGET_PASS_MOST 32

struct budget_target {
	uint32_t target_id; /* 0 = none has the place */
	/* Which process that is: a slot of the process table is given to others. */
	pid_t pid;
	uint64_t start_ticks;
	struct image *image; /* NULL = it cannot be looked at */
	struct budget_census_series heap;
	uint64_t cpu_begin_ns, cpu_ns; /* its CPU time when it was found, and since */
	uint64_t looked_ns; /* CLOCK_MONOTONIC: the last pass that was over it; 0 = none */
	uint64_t recorded; /* number of the last window that has recorded a block of it; 0 = none */
	size_t due; /* blocks of it that are to be looked at in the pass */
	bool ended;
};

struct budget_targets {
	const struct process_table *processes;
	struct budget_cohort_set *cohort;
	const struct log *log;
	struct budget_target *items; /* by target_id - 1 */
	size_t count, capacity;
	size_t next; /* whose turn it is */
	/* No heap is walked before that time: it would take too much of the tracer's. */
	uint64_t census_ns;
	uint64_t gone_cpu_ns; /* of processes whose place another one has */
};

void budget_targets_free(struct budget_targets *targets);

/* Processes that are new, have ended, or run another program than before. */
void budget_targets_follow(struct budget_targets *targets);

/* NULL = none has this id. */
struct budget_target *budget_targets_find(const struct budget_targets *targets, uint32_t target_id);

/* CPU time of all since each was found; of one that has ended, as it was read last. */
uint64_t budget_targets_read_cpu(struct budget_targets *targets);

/* List mappings, which there is no time for while probes are in: of BUDGET_PASS_MOST at most, those that allocated lately first. */
void budget_targets_refresh(struct budget_targets *targets);

/*
 * A pass: whether blocks are in use still, by the allocator, if it is its turn, then by their contents. Of those that are due, or of
 * all; of BUDGET_PASS_MOST processes at most, and not for long: the others are next.
 */
void budget_targets_look(struct budget_targets *targets, bool all);

/* Add heaps and CPU times to a report, and how many processes were looked at. */
void budget_targets_report(struct budget_targets *targets, struct budget_report *report);

#endif
