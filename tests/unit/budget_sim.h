/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces in windows of programs that are made up, with all that chance does to them: when windows are, which blocks are born in them, how
 * long these live, what censuses count. Cohort and marks are the session's own. Truth: the rates that the program was made with.
 */
#ifndef TESTS_UNIT_BUDGET_SIM_H
#define TESTS_UNIT_BUDGET_SIM_H

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "windows/budget_cohort.h"
#include "windows/budget_marks.h"
#include "unit/random_numbers.h"

#define SIM_SECOND 1000000000ull
#define SIM_START (5 * SIM_SECOND)
#define SIM_SITES 8

/* What a site does. Key is its place + 1. */
struct sim_site {
	uint64_t size;
	double leaks_per_s; /* blocks that are never freed, from `from_s` on, */
	double burst; /* born so many at a time; 0 = one by one */
	double from_s, until_s; /* 0 = to the end */
	double emptied_s; /* all of them are freed at this moment; 0 = never */
	double written_s; /* after this time on average a leaked block is written to; 0 = never */
	/* Others, of which there are always as many, and how long these live on average. */
	double cached_per_s, life_s;
	double replaced; /* the share of these whose place is another one's before it is looked at again */
	double passing; /* on average so many are in use for a moment when a window ends */
};

struct sim_target {
	struct sim_site sites[SIM_SITES];
	size_t site_count;
	double duration_s, windows, window_s;
	double own; /* the share of a window that is the target's own time, */
	double own_varies; /* differs by a factor of about e to this from window to window */
	double running; /* CPUs that it takes */
	double charged; /* what traps are said to have cost, of its CPU time in windows; 0 = 1 - own */
	double edges; /* the share of that which was at the edges of windows */
	double census_s; /* between censuses */
	size_t most_of_site; /* blocks in the cohort; 0 = all */
	double cut_s; /* an earlier moment, at a census, of which there is a report, too; 0 = there is none */
};

struct sim_block {
	uint64_t address, born_ns;
	double freed_s, changed_s; /* ages at which it is, by truth; INFINITY = never */
	bool replaced;
};

struct sim {
	const struct sim_target *target;
	struct random_numbers *random;
	struct budget_cohort_set cohort;
	struct budget_marks marks;
	struct sim_block *blocks;
	size_t count, capacity;
	uint64_t traced_ns, windows, recorded;
	double *leaked; /* bytes, of each site; by truth */
	struct budget_report *before; /* of the earlier moment */
	double leaked_before[SIM_SITES];
	uint64_t born[SIM_SITES]; /* in windows; all of them are in use when these end */
};

static inline void sim_enter(struct sim *sim, size_t site, const struct sim_block *block)
{
	const struct cohort_entry entry = { .site = site + 1,
					    .target_id = 1,
					    .address = block->address,
					    .size = sim->target->sites[site].size,
					    .born_ns = block->born_ns,
					    .window = (uint32_t)sim->windows,
					    .contents = 1,
					    .length = 64,
					    .draw = (uint32_t)random_word(sim->random) };

	sim->blocks = memory_grow(sim->blocks, sim->count, &sim->capacity, sizeof(*sim->blocks));
	sim->blocks[sim->count++] = *block;
	budget_cohort_enter(&sim->cohort, &entry, block->born_ns);
	sim->recorded++;
	sim->born[site]++;
}

/* Blocks of one kind that a window has; `how` has their fate. */
static inline void sim_bear(struct sim *sim, size_t site, double count, uint64_t time_ns,
			    double life_s)
{
	const struct sim_site *of = &sim->target->sites[site];
	struct sim_block block = { .born_ns = time_ns };

	for (; count >= 1; count--) {
		block.address = 0x10000 + 0x1000 * (uint64_t)sim->count;
		block.freed_s = block.changed_s = INFINITY;
		if (life_s > 0) {
			block.freed_s = random_exponential(sim->random, life_s);
			block.replaced = random_share(sim->random) < of->replaced;
		} else if (of->emptied_s > 0 && time_ns < SIM_START + of->emptied_s * 1e9) {
			block.freed_s = of->emptied_s - (double)(time_ns - SIM_START) / 1e9;
		} else if (of->written_s > 0) {
			block.changed_s = random_exponential(sim->random, of->written_s);
		}
		sim_enter(sim, site, &block);
	}
}

static inline double sim_births(struct sim *sim, double per_s, double burst, double seconds)
{
	if (!(burst > 0))
		return random_count(sim->random, per_s * seconds);
	return burst * random_count(sim->random, per_s / burst * seconds);
}

static inline void sim_window(struct sim *sim, double at_s)
{
	const struct sim_target *target = sim->target;
	uint64_t time_ns = SIM_START + (uint64_t)(at_s * 1e9);
	double own = target->own * exp(target->own_varies * random_normal(sim->random) -
				       target->own_varies * target->own_varies / 2);
	double seconds = target->window_s * fmin(own, 1);
	size_t i;

	for (i = 0; i < target->site_count; i++) {
		const struct sim_site *site = &target->sites[i];

		if (at_s >= site->from_s && (!(site->until_s > 0) || at_s < site->until_s))
			sim_bear(sim, i, sim_births(sim, site->leaks_per_s, site->burst, seconds),
				 time_ns, 0);
		sim_bear(sim, i, random_count(sim->random, site->cached_per_s * seconds), time_ns,
			 site->life_s);
		sim_bear(sim, i, random_count(sim->random, site->passing), time_ns, 0.001);
	}
	sim->windows++;
	sim->traced_ns += (uint64_t)(target->window_s * 1e9);
	budget_marks_add(&sim->marks, time_ns, (uint64_t)(target->window_s * 1e9));
}

/* Look at the blocks that are due, as windows/budget.c does, or at all. */
static inline void sim_look(struct sim *sim, double at_s, bool all)
{
	uint64_t now_ns = SIM_START + (uint64_t)(at_s * 1e9);
	struct cohort_block *block;
	size_t i;

	for (i = 0; i < sim->count; i++) {
		const struct sim_block *truth = &sim->blocks[i];
		double age_s = (double)(now_ns - truth->born_ns) / 1e9;

		block = budget_cohort_find(&sim->cohort, 1, truth->address);
		if (!block ||
		    (!all && (double)(now_ns - block->seen_ns) / 1e9 < fmax(age_s / 4, 0.2)))
			continue;
		if (truth->freed_s < age_s && !truth->replaced)
			budget_cohort_see(&sim->cohort, block, now_ns, COHORT_FREED);
		else if (truth->freed_s < age_s || truth->changed_s < age_s)
			budget_cohort_see(&sim->cohort, block, now_ns, COHORT_WRITTEN);
		else
			budget_cohort_see(&sim->cohort, block, now_ns, COHORT_UNCHANGED);
	}
}

/* Censuses */

static inline struct budget_size *sim_size(struct budget_heap *heap, uint64_t size)
{
	uint32_t size_class = budget_size_class(size);
	size_t i = heap->size_count;

	while (i && heap->sizes[i - 1].size_class > size_class)
		i--;
	if (i && heap->sizes[i - 1].size_class == size_class)
		return &heap->sizes[i - 1];
	memmove(&heap->sizes[i + 1], &heap->sizes[i],
		(heap->size_count++ - i) * sizeof(*heap->sizes));
	heap->sizes[i] = (struct budget_size){
		.size_class = size_class,
		.blocks = memory_alloc(heap->census_count, sizeof(uint64_t)),
		.bytes = memory_alloc(heap->census_count, sizeof(uint64_t)),
	};
	return &heap->sizes[i];
}

/* What a site has in use at the censuses. A cache that is full has as many at all times, but for what passes. */
static inline double sim_count_site(struct sim *sim, const struct sim_site *site,
				    struct budget_heap *heap, double *leaked_before)
{
	struct budget_size *size = sim_size(heap, site->size);
	double leaked = 0, step, count;
	size_t i;

	for (i = 0; i < heap->census_count; i++) {
		step = fmin(sim->target->census_s * (double)i - site->from_s,
			    sim->target->census_s);
		if (site->until_s > 0 && sim->target->census_s * (double)i > site->until_s)
			step = 0;
		if (i && step > 0)
			leaked += sim_births(sim, site->leaks_per_s, site->burst, step);
		if (site->emptied_s > 0 && sim->target->census_s * (double)i == site->emptied_s)
			leaked = 0;
		if (sim->target->census_s * (double)i <= sim->target->cut_s)
			*leaked_before = leaked * (double)site->size;
		count = leaked + site->cached_per_s * site->life_s +
			random_count(sim->random, site->passing);
		size->blocks[i] += (uint64_t)count;
		size->bytes[i] += (uint64_t)count * site->size;
		heap->censuses[i].live_blocks += (uint64_t)count;
		heap->censuses[i].live_bytes += (uint64_t)count * site->size;
	}
	return leaked * (double)site->size;
}

static inline void sim_count(struct sim *sim, struct budget_report *report)
{
	const struct sim_target *target = sim->target;
	struct budget_heap *heap = budget_report_add_heap(report);
	size_t i;

	heap->target_id = 1;
	heap->allocator = "glibc";
	heap->census_count = (size_t)(target->duration_s / target->census_s) + 1;
	heap->censuses = memory_alloc(heap->census_count, sizeof(*heap->censuses));
	heap->sizes = memory_alloc(SIM_SITES + 1, sizeof(*heap->sizes));
	for (i = 0; i < heap->census_count; i++)
		heap->censuses[i].time_ns =
			SIM_START + (uint64_t)(target->census_s * (double)i * 1e9);
	for (i = 0; i < target->site_count; i++)
		sim->leaked[i] =
			sim_count_site(sim, &target->sites[i], heap, &sim->leaked_before[i]);
}

/* But for the heap. */
static inline struct budget_report *sim_report(struct sim *sim, double at_s)
{
	const struct sim_target *target = sim->target;
	struct budget_report *report = budget_report_new();
	double charged = target->charged > 0 ? target->charged : 1 - target->own;
	size_t i;

	report->budget = 1000;
	report->weight = 1;
	report->start_ns = SIM_START;
	report->time_ns = SIM_START + (uint64_t)(at_s * 1e9);
	report->window_count = sim->windows;
	report->traced_ns = sim->traced_ns;
	report->recorded = sim->recorded;
	report->cpu_ns = (uint64_t)(at_s * target->running * 1e9);
	report->cost_ns = (uint64_t)((double)sim->traced_ns * target->running * charged /
				     (1 - target->edges));
	report->hits = 100000;
	report->edge_hits = (uint64_t)(100000 * target->edges);
	report->busiest_ns = report->cost_ns;
	budget_marks_report(&sim->marks, report);
	budget_cohort_report(&sim->cohort, report->time_ns, report);
	for (i = 0; i < report->site_count; i++)
		report->sites[i].allocated_blocks = sim->born[report->sites[i].key - 1];
	return report;
}

static inline void *sim_copy(const void *from, size_t size)
{
	return memcpy(memory_alloc(1, size + 1), from, size);
}

/* The censuses up to an earlier moment. */
static inline void sim_copy_heap(struct budget_report *before, const struct budget_heap *heap)
{
	struct budget_heap *to = budget_report_add_heap(before);
	size_t i;

	to->target_id = heap->target_id;
	to->allocator = heap->allocator;
	while (to->census_count < heap->census_count &&
	       heap->censuses[to->census_count].time_ns <= before->time_ns)
		to->census_count++;
	to->censuses = sim_copy(heap->censuses, to->census_count * sizeof(*to->censuses));
	to->sizes = sim_copy(heap->sizes, heap->size_count * sizeof(*to->sizes));
	to->size_count = heap->size_count;
	for (i = 0; i < to->size_count; i++) {
		to->sizes[i].blocks =
			sim_copy(heap->sizes[i].blocks, to->census_count * sizeof(uint64_t));
		to->sizes[i].bytes =
			sim_copy(heap->sizes[i].bytes, to->census_count * sizeof(uint64_t));
	}
}

/*
 * A trace. `leaked`: bytes of each site that were, to the last census. With target.cut_s, `ret_before` is the report of that moment, and
 * `leaked` what was since then. Free both with budget_report_free.
 */
static inline struct budget_report *sim_run_both(const struct sim_target *target,
						 struct random_numbers *random, double *leaked,
						 struct budget_report **ret_before)
{
	struct sim sim = { .target = target,
			   .random = random,
			   .leaked = leaked,
			   .cohort = { .most_of_site = target->most_of_site } };
	struct budget_report *report;
	double at_s, step = target->duration_s / target->windows;
	size_t i;

	for (at_s = step * random_share(random); at_s < target->duration_s;
	     at_s += step * (0.5 + random_share(random))) {
		if (target->cut_s > 0 && !sim.before && at_s >= target->cut_s) {
			sim_look(&sim, target->cut_s, true);
			sim.before = sim_report(&sim, target->cut_s);
		}
		sim_look(&sim, at_s, false);
		sim_window(&sim, at_s);
	}
	sim_look(&sim, target->duration_s, true);
	report = sim_report(&sim, target->duration_s);
	sim_count(&sim, report);
	if (sim.before) {
		sim_copy_heap(sim.before, &report->heaps[0]);
		*ret_before = sim.before;
		for (i = 0; i < target->site_count; i++)
			leaked[i] -= sim.leaked_before[i];
	}
	budget_cohort_free(&sim.cohort);
	free(sim.blocks);
	return report;
}

static inline struct budget_report *sim_run(const struct sim_target *target,
					    struct random_numbers *random, double *leaked)
{
	return sim_run_both(target, random, leaked, NULL);
}

#endif
