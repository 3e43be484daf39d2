/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget.h. */
#include "windows/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/seed.h"
#include "windows/budget_window.h"

/* Blocks of the cohort: each takes some 200 bytes. */
#define COHORT_MOST 65536
#define COHORT_MOST_OF_SITE 2048

/* The first window is soon, so that there is something to be looked at. */
#define FIRST_NS 250000000

/* As long as it is not known what a trap costs, windows wait; after that time it is assumed to be dear. */
#define COSTS_WAIT_NS 5000000000
#define COSTS_TICK_NS 50000000
#define COST_ASSUMED_NS 6000

/* What runs at a hit beside the trap, before that was measured: a stack is walked at some. */
#define HIT_PROGRAM_NS 1500

static struct image *budget_image(void *context, uint32_t target_id)
{
	const struct budget *budget = context;
	const struct budget_target *target = budget_targets_find(&budget->targets, target_id);

	return target ? target->image : NULL;
}

static uint64_t budget_usable(void *context, uint32_t target_id, uint64_t size)
{
	const struct budget *budget = context;
	const struct budget_target *target = budget_targets_find(&budget->targets, target_id);

	return target ? budget_census_usable(&target->heap, size) : size;
}

/* Windows */

/* What traps cost here. False as long as that is not known. */
static bool budget_read_costs(struct budget *budget)
{
	int code;

	if (budget->costs_known)
		return true;
	code = trap_meter_read(budget->traps, 0, &budget->costs);
	if (code == -EINPROGRESS && clock_now_ns() < budget->start_ns + COSTS_WAIT_NS)
		return false;
	budget->costs_known = true;
	budget->costs_assumed = code != 0;
	if (code)
		budget->costs = (struct trap_costs){ .emulated_ns = COST_ASSUMED_NS,
						     .stepped_ns = COST_ASSUMED_NS,
						     .return_ns = COST_ASSUMED_NS };
	budget->pace.hit_ns =
		budget->costs.emulated_ns + budget->costs.return_ns / 2 + HIT_PROGRAM_NS;
	return true;
}

/* The event loop takes no note of processes that end while a window is under way. */
static bool budget_is_over(void *context)
{
	const struct budget *budget = context;

	return process_table_has_ended(budget->targets.processes);
}

static void budget_enter(struct budget *budget, struct budget_window_run *run)
{
	uint64_t now_ns = clock_now_ns();
	size_t i;

	for (i = 0; i < run->count; i++) {
		const struct window_block *block = &run->blocks[i];
		struct budget_target *target =
			budget_targets_find(&budget->targets, block->key.target_id);
		const struct cohort_entry entry = {
			.site = block->block.site,
			.target_id = block->key.target_id,
			.address = block->look.address,
			.size = block->look.size,
			.born_ns = LIFE_BORN_NS(block->block.life),
			.contents = block->look.contents,
			.length = block->look.length,
			.draw = block->draw,
			.window = (uint32_t)budget->window_count,
			.bits = run->bits,
			.added = block->block.life & LIFE_ADDED,
		};

		if (target)
			target->recorded = budget->window_count + 1;
		if (block->stayed && block->look.length && block->look.state == LOOK_READ)
			run->window.entered += budget_cohort_enter(&budget->cohort, &entry, now_ns);
	}
}

static void budget_see_site(void *context, const void *key, const void *value)
{
	const struct site *site = value;
	uint64_t *sum = context;

	(void)key;
	*sum += site->alloc_objects;
}

/* Blocks that windows have recorded, of the sites that are known now: those of programs that have ended are not. False if they cannot be read. */
static bool budget_sum_sites(const struct budget *budget, uint64_t *ret_sum)
{
	*ret_sum = 0;
	return !maps_read(budget->maps, MAPS_SITES, budget_see_site, ret_sum);
}

static void budget_log_window(const struct budget *budget, const struct budget_window *window)
{
	log_write(
		budget->log, LOG_VERBOSE,
		"window %llu: %.1f ms%s, attached in %.1f ms, taken out in %.1f ms; %llu hits took "
		"%.2f ms, %.2f ms of one thread; %llu hits before, %llu after; %llu blocks, %llu "
		"of them in use at its "
		"end, each for %llu; cohort: %zu",
		(unsigned long long)budget->window_count, (double)window->length_ns / 1e6,
		window->lost  ? " (lost)"
		: window->cut ? " (cut)"
			      : "",
		(double)window->attach_ns / 1e6, (double)window->detach_ns / 1e6,
		(unsigned long long)window->hits, (double)window->cost_ns / 1e6,
		(double)window->busiest_ns / 1e6, (unsigned long long)window->attach_hits,
		(unsigned long long)window->detach_hits, (unsigned long long)window->recorded,
		(unsigned long long)window->entered, (unsigned long long)window->weight,
		budget->cohort.blocks.count);
}

/* What a window has come to. */
static void budget_count_window(struct budget *budget, const struct budget_window *window)
{
	const struct budget_spent spent = { .length_ns = window->length_ns,
					    .hits = window->hits,
					    .cost_ns = window->cost_ns,
					    .edge_hits = window->attach_hits + window->detach_hits,
					    .late_hits = window->detach_hits };

	budget_pace_spend(&budget->pace, &spent);
	budget->windows[budget->window_count++ % BUDGET_WINDOWS] = *window;
	if (!window->lost)
		budget_marks_add(&budget->marks, window->start_ns, window->length_ns);
	budget->lost_count += window->lost;
	budget->edge_hits += spent.edge_hits;
	budget->hits += window->hits;
	budget->recorded += window->recorded;
	budget->traced_ns += window->length_ns;
	budget->busiest_ns += window->busiest_ns;
	budget->over_count += window->busiest_ns > budget->pace.max_window_ns;
	if (window->busiest_ns > budget->longest_ns)
		budget->longest_ns = window->busiest_ns;
	budget_log_window(budget, window);
}

static void budget_run_window(struct budget *budget, const struct budget_share *share)
{
	struct budget_window_run run = { .programs = budget->programs,
					 .maps = budget->maps,
					 .probes = budget->probes,
					 .meter = budget->meter,
					 .costs = &budget->costs,
					 .image = budget_image,
					 .usable = budget_usable,
					 .is_over = budget_is_over,
					 .context = budget,
					 .seed = budget->seed + budget->window_count };
	struct budget_share limited = *share;
	struct error error = { 0 };
	uint64_t before, after;
	bool is_known;

	/* No hit records more than one block: so there is room for all. */
	if (limited.hits > budget->most_blocks)
		limited.hits = budget->most_blocks;
	budget_targets_refresh(&budget->targets);
	is_known = budget_sum_sites(budget, &before);
	if (budget_window_trace(&run, &limited, &error))
		log_write(budget->log, budget->lost_count ? LOG_VERBOSE : LOG_NOTICE,
			  "a window is lost: %s", error.text);
	if (is_known && budget_sum_sites(budget, &after) && after > before)
		run.window.recorded = after - before;
	budget_enter(budget, &run);
	budget_count_window(budget, &run.window);
	budget_window_free(&run);
}

/* What the budget is a part of. */
static uint64_t budget_read_cpu(struct budget *budget, uint64_t now_ns)
{
	uint64_t cpu_ns = budget_targets_read_cpu(&budget->targets), least_ns = 0;

	if (budget->idle_part)
		least_ns = (now_ns - budget->start_ns) / budget->idle_part;
	return cpu_ns > least_ns ? cpu_ns : least_ns;
}

uint64_t budget_poll(struct budget *budget)
{
	struct budget_share share;
	uint64_t now_ns = clock_now_ns();

	if (!budget->start_ns || now_ns < budget->next_ns)
		return budget->next_ns;
	if (!budget_read_costs(budget))
		return budget->next_ns = now_ns + COSTS_TICK_NS;
	budget_targets_follow(&budget->targets);
	budget_targets_look(&budget->targets, false);
	budget_pace_see_cpu(&budget->pace, now_ns, budget_read_cpu(budget, now_ns));
	if (budget_pace_allows(&budget->pace, &share))
		budget_run_window(budget, &share);
	budget->next_ns = budget_pace_next_ns(&budget->pace, clock_now_ns());
	return budget->next_ns;
}

void budget_start(struct budget *budget)
{
	budget->seed = seed_new();
	budget->pace.budget = budget->percent;
	budget->pace.random = seed_new();
	budget->targets.cohort = &budget->cohort;
	budget->targets.log = budget->log;
	budget->cohort.most = COHORT_MOST;
	budget->cohort.most_of_site = COHORT_MOST_OF_SITE;
	budget->start_ns = clock_now_ns();
	budget->next_ns = budget->start_ns + FIRST_NS;
	budget_targets_follow(&budget->targets);
	budget_pace_see_cpu(&budget->pace, budget->start_ns, 0);
	budget_targets_look(&budget->targets, false);
}

void budget_free(struct budget *budget)
{
	budget_targets_free(&budget->targets);
	budget_cohort_free(&budget->cohort);
}

/* Reports */

static void budget_fill_windows(const struct budget *budget, struct budget_report *report)
{
	uint64_t rows = budget->window_count < BUDGET_WINDOWS ? budget->window_count
							      : BUDGET_WINDOWS;
	uint64_t i, first = budget->window_count - rows;

	report->windows = memory_alloc(rows + 1, sizeof(*report->windows));
	report->window_rows = rows;
	for (i = 0; i < rows; i++)
		report->windows[i] = budget->windows[(first + i) % BUDGET_WINDOWS];
}

/* Sites that are known no more are of programs that have ended. */
static void budget_forget_sites(struct budget *budget)
{
	uint64_t *keys = memory_alloc(budget->cohort.sites.count + 1, sizeof(*keys));
	const struct table_slot *slot;
	size_t cursor = 0, count = 0, i;

	while ((slot = table_next(&budget->cohort.sites, &cursor)))
		if (!sites_get(budget->sites, slot->key))
			keys[count++] = slot->key;
	for (i = 0; i < count; i++)
		budget_cohort_forget_site(&budget->cohort, keys[i]);
	free(keys);
}

static void budget_fill_report(struct budget *budget, uint64_t now_ns, struct budget_report *report)
{
	report->budget = budget->percent;
	report->max_window_ns = budget->pace.max_window_ns;
	report->start_ns = budget->start_ns;
	report->time_ns = now_ns;
	report->window_count = budget->window_count;
	report->lost_count = budget->lost_count;
	report->hits = budget->hits;
	report->edge_hits = budget->edge_hits;
	report->recorded = budget->recorded;
	report->traced_ns = budget->traced_ns;
	report->cost_ns = budget->pace.cost_ns;
	report->busiest_ns = budget->busiest_ns;
	report->over_count = budget->over_count;
	report->longest_ns = budget->longest_ns;
	report->cost_unknown = budget->costs_assumed;
	report->hit_ns = budget->pace.hit_ns;
	report->weight = 1;
	budget_fill_windows(budget, report);
	budget_marks_report(&budget->marks, report);
	budget_cohort_report(&budget->cohort, now_ns, report);
	budget_targets_report(&budget->targets, report);
}

void budget_fill(struct budget *budget, struct snapshot *snapshot)
{
	struct budget_report *report = budget_report_new();
	struct table rows = { 0 };
	size_t i;

	budget_targets_follow(&budget->targets);
	budget_targets_look(&budget->targets, true);
	budget_forget_sites(budget);
	budget_fill_report(budget, snapshot->time_ns, report);
	for (i = 0; i < report->site_count; i++)
		table_put(&rows, report->sites[i].key, &report->sites[i]);
	for (i = 0; i < snapshot->site_count; i++) {
		struct snapshot_site *site = &snapshot->sites[i];
		struct budget_site *row = table_get(&rows, site->key);

		if (row) {
			row->allocated_blocks = site->stats.alloc_objects;
			row->allocated_bytes = site->stats.alloc_bytes;
			row->freed_blocks = site->stats.free_objects;
		}
	}
	table_free(&rows);
	/* Most blocks are not recorded, and all of those are unknown when they are freed. */
	snapshot->loss[LOSS_FREE_UNTRACKED] = 0;
	snapshot->budget = report;
}
