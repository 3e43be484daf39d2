/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of --budget: memory and heap of each, and their total CPU time, of which tracing
 * gets a share. There may be as many as the machine has, so they are examined in turns.
 */
#ifndef WINDOWS_BUDGET_TARGETS_H
#define WINDOWS_BUDGET_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "image/image.h"
#include "model/budget_report.h"
#include "windows/budget_census.h"
#include "windows/budget_cohort.h"
#include "follow/process_table.h"

/*
 * Limit of processes examined in one pass, and of those whose mappings are listed before a window.
 */
#define BUDGET_PASS_MOST 32

struct budget_target {
	uint32_t target_id; /* 0 = unused entry */
	/* Identify the process, since slots of the process table are reused. */
	pid_t pid;
	uint64_t start_ticks;
	struct image *image; /* NULL = its memory cannot be read */
	struct budget_census_series heap;
	/* its CPU time when it was found, and what it has used since */
	uint64_t cpu_begin_ns, cpu_ns;
	uint64_t looked_ns; /* CLOCK_MONOTONIC: its last pass; 0 = none */
	uint64_t recorded; /* number of the last window that recorded a block of it; 0 = none */
	size_t due; /* its blocks that are due in the current pass */
	bool ended;
};

struct budget_targets {
	const struct process_table *processes;
	struct budget_cohort_set *cohort;
	const struct log *log;
	struct budget_target *items; /* by target_id - 1 */
	size_t count, capacity;
	size_t next; /* index whose turn is next */
	/* Walk no heap before this time: it would exceed the tracer's share. */
	uint64_t census_ns;
	uint64_t gone_cpu_ns; /* CPU time of processes whose entry was reused */
};

void budget_targets_free(struct budget_targets *targets);

/* Update the list: new processes, ended ones, and those that have executed another program. */
void budget_targets_follow(struct budget_targets *targets);

/* The process with this id, or NULL. */
struct budget_target *budget_targets_find(const struct budget_targets *targets, uint32_t target_id);

/* Total CPU time since each process was found; of an ended process, its last reading. */
uint64_t budget_targets_read_cpu(struct budget_targets *targets);

/*
 * List mappings now, since there is no time for it while probes are attached: of BUDGET_PASS_MOST
 * processes at most, recent allocators first.
 */
void budget_targets_refresh(struct budget_targets *targets);

/*
 * Run a pass: find out which blocks are still in use, by a census if one is due, then by contents.
 * Examines the due blocks, or `all`; at most BUDGET_PASS_MOST processes and for a limited time. The
 * next pass continues with the rest.
 */
void budget_targets_look(struct budget_targets *targets, bool all);

/* Add heaps, CPU times and the number of examined processes to a report. */
void budget_targets_report(struct budget_targets *targets, struct budget_report *report);

#endif
