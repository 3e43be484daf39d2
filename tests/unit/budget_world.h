/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing in windows yields of a program that is made up: a minute of windows that are 2 s apart, and censuses of its heap. Blocks
 * live as formulas say, and counts are rounded, so nothing is at random.
 */
#ifndef TESTS_UNIT_BUDGET_WORLD_H
#define TESTS_UNIT_BUDGET_WORLD_H

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/budget_report.h"

#define WORLD_SECOND 1000000000ull
#define WORLD_START (5 * WORLD_SECOND)
#define WORLD_SECONDS 64
#define WORLD_WINDOWS 32
#define WORLD_CENSUSES 17

/* The blocks of a site of one size. */
struct world_blocks {
	uint64_t key, size;
	double per_window; /* that enter the cohort */
	double never, life_s; /* a share that is never freed, and the mean lifetime of the others */
	double written; /* the share of those alive that is written to */
	uint64_t weight; /* 0 = 1 */
};

static double world_alive(const struct world_blocks *blocks, double age_s)
{
	return blocks->never + (1 - blocks->never) * exp(-age_s / blocks->life_s);
}

static struct budget_blocks world_count(const struct world_blocks *blocks, double seen)
{
	uint64_t weight = blocks->weight ? blocks->weight : 1, count = (uint64_t)llround(seen);

	return (struct budget_blocks){ count, count * weight, count * weight * blocks->size };
}

/* A row of the life table: `ages` of the windows are 1 s, 3 s, 5 s ... */
static void world_fill_age(const struct world_blocks *blocks, int class, struct budget_age *age)
{
	double begin = (double)budget_age_least_ns((enum budget_ages) class) / 1e9, end = INFINITY;
	double reached = 0, freed = 0, now = 0, ages = 0;
	int window;

	if (class + 1 < BUDGET_AGES)
		end = (double)budget_age_least_ns((enum budget_ages)(class + 1)) / 1e9;
	for (window = 0; window < WORLD_WINDOWS; window++) {
		double old = 1 + 2 * window, until = fmin(old, end), here;

		if (old < begin)
			continue;
		reached += blocks->per_window * world_alive(blocks, begin);
		freed += blocks->per_window *
			 (world_alive(blocks, begin) - world_alive(blocks, until));
		if (old >= end)
			continue;
		here = blocks->per_window * world_alive(blocks, old);
		now += here;
		ages += here * (1 - blocks->written) * old;
	}
	age->reached = world_count(blocks, reached);
	age->freed = world_count(blocks, freed);
	age->unchanged = world_count(blocks, now * (1 - blocks->written));
	age->written = world_count(blocks, now * blocks->written);
	age->age_ns_sum = (uint64_t)(ages * 1e9 * (blocks->weight ? (double)blocks->weight : 1)) >>
			  16;
}

/* Add a site, or a size to the last one. */
static void world_add(struct budget_report *report, const struct world_blocks *blocks)
{
	struct budget_site *site = report->site_count ? &report->sites[report->site_count - 1]
						      : NULL;
	struct budget_cohort *cohort;
	uint64_t entered = (uint64_t)llround(blocks->per_window * WORLD_WINDOWS);
	uint64_t recorded = (uint64_t)llround(blocks->per_window * WORLD_WINDOWS * 1.5);
	int class;

	if (!site || site->key != blocks->key)
		site = budget_report_add_site(report);
	site->key = blocks->key;
	site->target_id = 1;
	site->allocated_blocks += recorded * (blocks->weight ? blocks->weight : 1);
	site->freed_blocks += (recorded - entered) * (blocks->weight ? blocks->weight : 1);
	site->allocated_bytes += recorded * (blocks->weight ? blocks->weight : 1) * blocks->size;
	cohort = budget_site_cohort(site, budget_size_class(blocks->size));
	for (class = 0; class < BUDGET_AGES; class ++)
		world_fill_age(blocks, class, &cohort->ages[class]);
}

static struct budget_heap *world_add_heap(struct budget_report *report)
{
	struct budget_heap *heap = budget_report_add_heap(report);
	size_t i;

	heap->target_id = 1;
	heap->allocator = "glibc";
	heap->census_count = WORLD_CENSUSES;
	heap->censuses = memory_alloc(WORLD_CENSUSES, sizeof(*heap->censuses));
	for (i = 0; i < WORLD_CENSUSES; i++)
		heap->censuses[i] = (struct budget_census){
			.time_ns = WORLD_START + i * 4 * WORLD_SECOND,
			.live_blocks = 1000,
			.live_bytes = 1000000,
		};
	return heap;
}

/* A class that grows by `bytes_per_s`, with a ripple of `ripple` bytes. The least first. */
static void world_add_size(struct budget_heap *heap, uint64_t size, double bytes_per_s,
			   double ripple)
{
	struct budget_size *to;
	size_t i;

	heap->sizes = memory_resize(heap->sizes, heap->size_count + 1, sizeof(*heap->sizes));
	to = &heap->sizes[heap->size_count++];
	to->size_class = budget_size_class(size);
	to->blocks = memory_alloc(WORLD_CENSUSES, sizeof(*to->blocks));
	to->bytes = memory_alloc(WORLD_CENSUSES, sizeof(*to->bytes));
	for (i = 0; i < WORLD_CENSUSES; i++) {
		to->bytes[i] = (uint64_t)(1e6 + bytes_per_s * 4 * (double)i +
					  ripple * sin(2.4 * (double)i));
		to->blocks[i] = to->bytes[i] / size;
		heap->censuses[i].live_bytes += to->bytes[i];
		heap->censuses[i].live_blocks += to->blocks[i];
	}
}

/* As many windows as are wanted, in the same time; the last of them have rows. */
static void world_set_windows(struct budget_report *report, size_t windows, size_t rows)
{
	const uint64_t step = WORLD_SECONDS * WORLD_SECOND / windows;
	size_t i;

	report->window_count = windows;
	report->window_rows = rows;
	report->mark_count = windows;
	report->windows = memory_resize(report->windows, rows, sizeof(*report->windows));
	report->marks = memory_resize(report->marks, windows, sizeof(*report->marks));
	for (i = 0; i < windows; i++)
		report->marks[i] = (struct budget_mark){
			.start_ns = WORLD_START + step / 2 + i * step,
			.traced_ns = report->traced_ns * (i + 1) / windows,
			.windows = i + 1,
		};
	for (i = 0; i < rows; i++)
		report->windows[i] = (struct budget_window){
			.start_ns = report->marks[windows - rows + i].start_ns,
			.length_ns = report->traced_ns / windows,
			.probed_ns = report->traced_ns / windows,
			.cost_ns = report->cost_ns / windows,
		};
}

/* Windows of 20 ms in which a target that is busy on one core is `slower` times slower. */
static struct budget_report *world_new(double slower)
{
	struct budget_report *report = budget_report_new();

	report->budget = 1000;
	report->start_ns = WORLD_START;
	report->time_ns = WORLD_START + WORLD_SECONDS * WORLD_SECOND;
	report->traced_ns = WORLD_WINDOWS * 20000000ull;
	report->cpu_ns = WORLD_SECONDS * WORLD_SECOND;
	report->cost_ns = (uint64_t)((double)report->traced_ns * (1 - 1 / slower));
	report->hits = 240000;
	report->recorded = 80000;
	report->weight = 1;
	world_set_windows(report, WORLD_WINDOWS, WORLD_WINDOWS);
	return report;
}

#endif
