/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracing within a budget: calls are traced in short windows, and what these have recorded is looked at from outside afterwards. In
 * between there is no probe in the targets.
 */
#ifndef SESSION_BUDGET_H
#define SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "kernel/bpf_programs.h"
#include "kernel/trap_meter.h"
#include "model/snapshot.h"
#include "session/budget_cohort.h"
#include "session/budget_marks.h"
#include "session/budget_pace.h"
#include "session/budget_targets.h"
#include "session/meter.h"
#include "session/probe_set.h"
#include "session/sites.h"

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
	/* Targets count as if they took this part of the time at least: 4 = a quarter; 0 = as they are. */
	uint64_t idle_part;
	uint64_t most_blocks; /* that a window can record */
	struct budget_pace pace;
	struct budget_cohort_set cohort;
	struct budget_targets targets;
	struct trap_costs costs;
	bool costs_known, costs_assumed;
	uint64_t start_ns, next_ns; /* of the next window, or look whether there is one */
	uint64_t seed;
	struct budget_window windows[BUDGET_WINDOWS]; /* a ring */
	struct budget_marks marks;
	uint64_t window_count, lost_count, hits, edge_hits, traced_ns, busiest_ns;
	uint64_t over_count, longest_ns; /* as in the report */
	uint64_t recorded; /* by all windows */
};

/* Begin; `percent` and `pace.max_window_ns` are set, and who it refers to. */
void budget_start(struct budget *budget);
void budget_free(struct budget *budget);

/*
 * Do what is due: a window, then a look at what is in use. That takes some 0.1 s, during which nothing else is done. Returns when it
 * is to be called again; 0 = never.
 */
uint64_t budget_poll(struct budget *budget);

/* Add to a snapshot what was found. Figures of its sites stay those of the windows. */
void budget_fill(struct budget *budget, struct snapshot *snapshot);

#endif
