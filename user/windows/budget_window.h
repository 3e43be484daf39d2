/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One window of --budget: attach, record calls for a while, read the blocks in use and their
 * contents, detach. Frees are probed first and stay probed while contents are read; before and
 * after recording, a hit can only end a block. So no block that was freed before its contents were
 * read is ever taken for one in use.
 *
 * On a busy machine the detaching thread may have to wait for a CPU. The window is longer then, and
 * is counted (windows_over).
 */
#ifndef WINDOWS_BUDGET_WINDOW_H
#define WINDOWS_BUDGET_WINDOW_H

#include "kernel/bpf_programs.h"
#include "kernel/maps.h"
#include "model/budget_report.h"
#include "model/trap_costs.h"
#include "windows/budget_look.h"
#include "windows/budget_pace.h"
#include "windows/meter.h"
#include "follow/probe_set.h"

/* A block that the window has recorded. */
struct window_block {
	struct block_key key;
	struct block block;
	uint32_t draw;
	bool stayed; /* it stayed in use until the probes were detached */
	struct look_item look;
};

struct budget_window_run {
	struct bpf_programs *programs;
	const struct maps *maps;
	struct probe_set *probes;
	struct meter *meter;
	const struct trap_costs *costs;
	/* The memory of a target; NULL = it cannot be read. */
	struct image *(*image)(void *context, uint32_t target_id);
	/* Usable bytes of a block of `size` bytes. */
	uint64_t (*usable)(void *context, uint32_t target_id, uint64_t size);
	/* Have all targets ended? */
	bool (*is_over)(void *context);
	void *context;
	uint64_t seed; /* seed of the draws; differs for each window */
	/* Results: */
	struct budget_window window;
	/* Sorted by key; blocks with `stayed` enter the cohort; owned. */
	struct window_block *blocks;
	size_t count, capacity;
	unsigned int bits; /* one in 2^bits of the blocks in use was kept */
};

/*
 * Run the window; returns once the probes are detached. 0, or a negative errno with `error` filled
 * if they could not be attached. Free with budget_window_free.
 */
int budget_window_trace(struct budget_window_run *run, const struct budget_share *share,
			struct error *error);
void budget_window_free(struct budget_window_run *run);

#endif
