/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracing within a budget. Calls are traced in short windows; afterwards the recorded blocks are
 * examined from outside the target. Between two windows no probe is attached.
 */
#ifndef WINDOWS_BUDGET_H
#define WINDOWS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "kernel/bpf_programs.h"
#include "kernel/trap_meter.h"
#include "model/snapshot.h"
#include "windows/budget_cohort.h"
#include "windows/budget_marks.h"
#include "windows/budget_pace.h"
#include "windows/budget_targets.h"
#include "windows/meter.h"
#include "follow/probe_set.h"
#include "follow/sites.h"

/* The last windows are reported one by one. */
#define BUDGET_WINDOWS 64

struct budget {
	struct bpf_programs *programs;
	const struct maps *maps;
	struct probe_set *probes;
	struct meter *meter;
	struct trap_meter *traps;
	struct sites *sites;
	const struct log *log;
	uint64_t percent; /* thousandths of a percent; 0 = no budget: all calls are traced */
	/*
	 * Targets count as if they used at least this fraction of the time: 4 = a quarter; 0 =
	 * their real CPU time.
	 */
	uint64_t idle_part;
	uint64_t most_blocks; /* the most that one window can record */
	struct budget_pace pace;
	struct budget_cohort_set cohort;
	struct budget_targets targets;
	struct trap_costs costs;
	bool costs_known, costs_assumed;
	/* time of the next window, or of the next decision whether to open one */
	uint64_t start_ns, next_ns;
	uint64_t seed;
	struct budget_window windows[BUDGET_WINDOWS]; /* a ring */
	struct budget_marks marks;
	uint64_t window_count, lost_count, hits, edge_hits, traced_ns, busiest_ns;
	uint64_t over_count, longest_ns; /* as in the report */
	uint64_t recorded; /* blocks recorded by all windows */
};

/* Start. The caller has set `percent`, `pace.max_window_ns` and all pointers. */
void budget_start(struct budget *budget);
void budget_free(struct budget *budget);

/*
 * Run what is due: first a window, then a look at the blocks in use. Blocks for about 0.1 s.
 * Returns the time of the next call; 0 = never.
 */
uint64_t budget_poll(struct budget *budget);

/* Add the results to a snapshot. The figures of its sites remain those of the windows. */
void budget_fill(struct budget *budget, struct snapshot *snapshot);

#endif
