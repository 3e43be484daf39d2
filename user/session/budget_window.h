/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One window of --budget: probes in, calls recorded for a while, what is in use read with its contents, probes out. Frees are probed
 * first, and still when the contents are read; before and after allocations are recorded, a hit can only end a block. So whatever
 * happens at the edges, no block is taken for one that is in use that was freed before its contents were read.
 *
 * The thread that takes probes out may wait for a CPU on a busy machine: the window is longer then, and is counted (windows_over).
 */
#ifndef SESSION_BUDGET_WINDOW_H
#define SESSION_BUDGET_WINDOW_H

#include "kernel/bpf_programs.h"
#include "kernel/maps.h"
#include "model/budget_report.h"
#include "model/trap_costs.h"
#include "session/budget_look.h"
#include "session/budget_pace.h"
#include "session/meter.h"
#include "session/probe_set.h"

/* A block that a window has recorded. */
struct window_block {
	struct block_key key;
	struct block block;
	uint32_t draw;
	bool stayed; /* it was in use until the probes were out */
	struct look_item look;
};

struct budget_window_run {
	struct bpf_programs *programs;
	const struct maps *maps;
	struct probe_set *probes;
	struct meter *meter;
	const struct trap_costs *costs;
	/* The memory of a target; NULL = it cannot be looked at. */
	struct image *(*image)(void *context, uint32_t target_id);
	/* What the program may use of a block. */
	uint64_t (*usable)(void *context, uint32_t target_id, uint64_t size);
	/* Have all targets ended? */
	bool (*is_over)(void *context);
	void *context;
	uint64_t seed; /* of the draws: another one for each window */
	/* Filled in: */
	struct budget_window window;
	/* In the order of keys; those with `stayed` enter the cohort; owned. */
	struct window_block *blocks;
	size_t count, capacity;
	unsigned int bits; /* of those that were in use, one of 2^bits is there */
};

/* Returns when the probes are out. 0, or a negative errno with `error` filled if they could not be attached. Free with the next. */
int budget_window_trace(struct budget_window_run *run, const struct budget_share *share,
			struct error *error);
void budget_window_free(struct budget_window_run *run);

#endif
