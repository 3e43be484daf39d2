/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_targets.h. */
#include "windows/budget_targets.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "windows/budget_look.h"
#include "system/cpu_time.h"

/* A pass begins with no other process after that time. */
#define PASS_NS 2000000000

/* Of a CPU, the censuses of all processes together take one part in so many. */
#define CENSUS_REST 50

/* A block is looked at again when its age has grown by a quarter, so that there are few looks at old ones. */
#define LOOK_AGAIN 4
#define LOOK_MIN_NS 200000000

void budget_targets_free(struct budget_targets *targets)
{
	size_t i;

	for (i = 0; i < targets->count; i++) {
		budget_census_free(&targets->items[i].heap);
		image_free(targets->items[i].image);
	}
	free(targets->items);
}

struct budget_target *budget_targets_find(const struct budget_targets *targets, uint32_t target_id)
{
	struct budget_target *target = NULL;

	if (target_id && target_id <= targets->count)
		target = &targets->items[target_id - 1];
	return target && target->target_id ? target : NULL;
}

/* Following */

/* What it had cannot be looked at any more. */
static void target_forget(struct budget_targets *targets, struct budget_target *target)
{
	budget_cohort_lose(targets->cohort, target->target_id, clock_now_ns());
	budget_census_free(&target->heap);
	image_free(target->image);
	target->image = NULL;
}

/* Its blocks can only be followed where its memory can be looked at. */
static void target_open(struct budget_targets *targets, struct budget_target *target)
{
	struct error error = { 0 };

	if (image_open(target->pid, 0, &target->image, &error))
		log_write(targets->log, LOG_VERBOSE, "blocks cannot be looked at: %s", error.text);
}

/* In the place of one that has ended, if that had this id: what was of that one is no part of any report. */
static void target_begin(struct budget_targets *targets, struct budget_target *target,
			 const struct process *process)
{
	if (target->target_id) {
		targets->gone_cpu_ns += target->cpu_ns;
		target_forget(targets, target);
		budget_cohort_forget_target(targets->cohort, target->target_id);
	}
	*target = (struct budget_target){ .target_id = process->target_id,
					  .pid = process->target.pid,
					  .start_ticks = process->start_ticks,
					  .cpu_begin_ns = cpu_time_read(process->target.pid) };
	target_open(targets, target);
}

static bool target_is(const struct budget_target *target, const struct process *process)
{
	return target->target_id && target->pid == process->target.pid &&
	       target->start_ticks == process->start_ticks;
}

/* Of a process that has ended, the last look stays. One that runs another program has nothing left of what it had. */
static void target_follow(struct budget_targets *targets, struct budget_target *target,
			  const struct process *process)
{
	if (target->ended ||
	    (!process->target.exited && target->image && image_is_alive(target->image)))
		return;
	target->ended = process->target.exited;
	if (!target->ended) {
		target_forget(targets, target);
		target_open(targets, target);
		return;
	}
	image_free(target->image);
	target->image = NULL;
}

void budget_targets_follow(struct budget_targets *targets)
{
	size_t i;

	for (i = 0; i < targets->processes->count; i++) {
		const struct process *process = targets->processes->slots[i].process;

		if (i == targets->count) {
			targets->items = memory_grow(targets->items, targets->count,
						     &targets->capacity, sizeof(*targets->items));
			targets->items[targets->count++] = (struct budget_target){ 0 };
		}
		if (target_is(&targets->items[i], process))
			target_follow(targets, &targets->items[i], process);
		else if (!process->target.exited)
			target_begin(targets, &targets->items[i], process);
	}
}

uint64_t budget_targets_read_cpu(struct budget_targets *targets)
{
	uint64_t sum = targets->gone_cpu_ns, now_ns;
	size_t i;

	for (i = 0; i < targets->count; i++) {
		struct budget_target *target = &targets->items[i];
		const struct process *process = targets->processes->slots[i].process;

		now_ns = target_is(target, process) && !process->target.exited
				 ? cpu_time_read(target->pid)
				 : 0;
		if (now_ns > target->cpu_begin_ns + target->cpu_ns)
			target->cpu_ns = now_ns - target->cpu_begin_ns;
		sum += target->cpu_ns;
	}
	return sum;
}

void budget_targets_refresh(struct budget_targets *targets)
{
	struct budget_target *chosen[BUDGET_PASS_MOST];
	size_t i, at, count = 0;

	for (i = 0; i < targets->count; i++) {
		struct budget_target *target = &targets->items[i];

		if (!target->image)
			continue;
		/* By the last window, the newest first; those that fall out are listed when a block of them is found. */
		for (at = count; at && chosen[at - 1]->recorded < target->recorded; at--)
			if (at < BUDGET_PASS_MOST)
				chosen[at] = chosen[at - 1];
		if (at < BUDGET_PASS_MOST)
			chosen[at] = target;
		count += count < BUDGET_PASS_MOST;
	}
	for (i = 0; i < count; i++)
		image_refresh(chosen[i]->image);
}

/* Looks */

/* Is it time to look at the block again? */
static bool block_is_due(const struct cohort_block *block, uint64_t now_ns)
{
	/* Of its birth is known to which 65 us it belongs: it may be ahead of now. */
	uint64_t age = now_ns > block->born_ns ? now_ns - block->born_ns : 0;
	uint64_t rest = age / LOOK_AGAIN;

	return now_ns - block->seen_ns >= (rest > LOOK_MIN_NS ? rest : LOOK_MIN_NS);
}

static void block_see(struct budget_targets *targets, const struct look_item *item, uint64_t now_ns)
{
	struct cohort_block *block = item->of;
	bool same = item->contents == block->contents;

	if (item->state == LOOK_GONE)
		budget_cohort_see(targets->cohort, block, now_ns, COHORT_FREED);
	else if (item->state == LOOK_READ && !same && block->missed)
		budget_cohort_see(targets->cohort, block, now_ns, COHORT_FREED);
	else if (item->state == LOOK_READ)
		budget_cohort_see(targets->cohort, block, now_ns,
				  same ? COHORT_UNCHANGED : COHORT_WRITTEN);
}

/* Look at the blocks of a process that are due, or at all. */
static void target_look(struct budget_targets *targets, struct budget_target *target, bool all)
{
	const struct table *blocks = &targets->cohort->blocks;
	struct look_item *items = memory_alloc(blocks->count + 1, sizeof(*items));
	uint64_t now_ns = clock_now_ns();
	const struct table_slot *slot;
	size_t cursor = 0, count = 0, i;

	while ((slot = table_next(blocks, &cursor))) {
		struct cohort_block *block = slot->value;

		if (block->target_id == target->target_id && (all || block_is_due(block, now_ns)))
			items[count++] = (struct look_item){ .address = block->address,
							     .size = block->length,
							     .of = block };
	}
	budget_look(target->image, items, count);
	for (i = 0; i < count; i++)
		block_see(targets, &items[i], now_ns);
	free(items);
}

/* How many blocks of each process are to be looked at. */
static void targets_count_due(struct budget_targets *targets, bool all)
{
	uint64_t now_ns = clock_now_ns();
	struct budget_target *target;
	const struct table_slot *slot;
	size_t cursor = 0, i;

	for (i = 0; i < targets->count; i++)
		targets->items[i].due = 0;
	while ((slot = table_next(&targets->cohort->blocks, &cursor))) {
		const struct cohort_block *block = slot->value;

		target = budget_targets_find(targets, block->target_id);
		if (target && (all || block_is_due(block, now_ns)))
			target->due++;
	}
}

/* Returns the CPU time that a census has taken of the tracer's; 0 = it was not its turn. */
static uint64_t target_pass(struct budget_targets *targets, struct budget_target *target, bool all,
			    bool counts)
{
	uint64_t begin_ns = clock_thread_ns(), taken_ns = 0;

	if (!image_refresh(target->image))
		return 0;
	if (counts) {
		budget_census_take(&target->heap, target->image, targets->cohort,
				   target->target_id);
		taken_ns = clock_thread_ns() - begin_ns;
	}
	target_look(targets, target, all);
	target->looked_ns = clock_now_ns();
	return taken_ns;
}

void budget_targets_look(struct budget_targets *targets, bool all)
{
	uint64_t begin_ns = clock_now_ns(), census_ns = 0;
	size_t looked = 0, i;

	targets_count_due(targets, all);
	for (i = 0; i < targets->count && looked < BUDGET_PASS_MOST; i++) {
		struct budget_target *target = &targets->items[targets->next % targets->count];
		bool counts = begin_ns >= targets->census_ns && begin_ns >= target->heap.next_ns;

		if (looked && clock_now_ns() >= begin_ns + PASS_NS)
			break;
		targets->next = (targets->next + 1) % targets->count;
		if (!target->image || (!target->due && !counts))
			continue;
		census_ns += target_pass(targets, target, all, counts);
		looked++;
	}
	if (census_ns)
		targets->census_ns = clock_now_ns() + CENSUS_REST * census_ns;
}

/* Reports */

static void target_report(const struct budget_target *target, struct budget_report *report)
{
	uint64_t age_ns = report->time_ns > target->looked_ns ? report->time_ns - target->looked_ns
							      : 0;

	budget_census_report(&target->heap, target->target_id, target->cpu_ns, report);
	if (!target->image)
		return;
	report->processes++;
	report->processes_unseen += !target->looked_ns;
	if (target->looked_ns && age_ns > report->oldest_look_ns)
		report->oldest_look_ns = age_ns;
}

void budget_targets_report(struct budget_targets *targets, struct budget_report *report)
{
	size_t i;

	report->cpu_ns = budget_targets_read_cpu(targets);
	report->pass_most = BUDGET_PASS_MOST;
	for (i = 0; i < targets->count; i++)
		if (targets->items[i].target_id)
			target_report(&targets->items[i], report);
}
