/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_life.h. */
#include "verdict/budget_life.h"

/* As age_ns_sum counts. */
#define AGE_UNIT_SHIFT 16

static void life_add_blocks(struct budget_blocks *sum, const struct budget_blocks *more)
{
	sum->seen += more->seen;
	sum->blocks += more->blocks;
	sum->bytes += more->bytes;
}

void budget_life_add(struct budget_life *life, const struct budget_site *site)
{
	size_t i;
	int age;

	for (i = 0; i < site->cohort_count; i++)
		for (age = 0; age < BUDGET_AGES; age++) {
			struct budget_age *to = &life->ages[age];
			const struct budget_age *from = &site->cohorts[i].ages[age];

			life_add_blocks(&to->reached, &from->reached);
			life_add_blocks(&to->freed, &from->freed);
			life_add_blocks(&to->lost, &from->lost);
			life_add_blocks(&to->unchanged, &from->unchanged);
			life_add_blocks(&to->written, &from->written);
			to->age_ns_sum += from->age_ns_sum;
		}
}

/* What part of a class its unchanged blocks have lived through. */
static double life_part(const struct budget_age *age, uint64_t begin_ns, uint64_t end_ns)
{
	double mean, part;

	if (!age->unchanged.blocks)
		return 0.5;
	mean = (double)age->age_ns_sum * (1 << AGE_UNIT_SHIFT) / (double)age->unchanged.blocks;
	part = (mean - (double)begin_ns) / (double)(end_ns - begin_ns);
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Append an event, if there are blocks for it; `part` of them. */
static size_t life_add_event(struct survival_event *event, const struct budget_blocks *blocks,
			     double part, uint64_t after_ns, uint64_t until_ns)
{
	if (!blocks->seen || !blocks->blocks || !(part > 0))
		return 0;
	*event = (struct survival_event){ after_ns, until_ns, part * (double)blocks->seen,
					  (double)blocks->blocks / (double)blocks->seen };
	return 1;
}

/* Events for each class. */
#define EVENTS_MAX (6 * BUDGET_AGES)

/* Where a class ends, if no block is older than `most_ns`. */
static uint64_t life_end(int age, uint64_t most_ns)
{
	uint64_t begin = budget_age_least_ns((enum budget_ages)age), end = most_ns;

	if (age + 1 < BUDGET_AGES && budget_age_least_ns((enum budget_ages)(age + 1)) < end)
		end = budget_age_least_ns((enum budget_ages)(age + 1));
	return end > begin ? end : begin + 1;
}

/* The events of a class. Returns how many. */
static size_t life_add_events(const struct budget_age *age, uint64_t begin, uint64_t end,
			      bool written_alive, struct survival_event *events)
{
	double part = life_part(age, begin, end);
	size_t count;

	count = life_add_event(events, &age->freed, 1, begin, end);
	count += life_add_event(&events[count], &age->unchanged, part, end, SURVIVAL_ALIVE);
	count += life_add_event(&events[count], &age->unchanged, 1 - part, begin, SURVIVAL_ALIVE);
	count += life_add_event(&events[count], &age->lost, 1, begin, SURVIVAL_ALIVE);
	if (written_alive)
		return count +
		       life_add_event(&events[count], &age->written, 1, begin, SURVIVAL_ALIVE);
	/* The same parts of these are at both ends, so that the share of those in use is the same there. */
	count += life_add_event(&events[count], &age->written, begin ? part : 1, 0, end);
	count += life_add_event(&events[count], &age->written, begin ? 1 - part : 0, 0, begin);
	return count;
}

static void life_estimate(const struct budget_life *life, uint64_t most_ns, bool written_alive,
			  struct survival *survival)
{
	struct survival_event events[EVENTS_MAX];
	size_t count = 0;
	int i;

	for (i = 0; i < BUDGET_AGES; i++)
		count += life_add_events(&life->ages[i], budget_age_least_ns((enum budget_ages)i),
					 life_end(i, most_ns), written_alive, &events[count]);
	survival_estimate(survival, events, count);
}

static bool life_has_written(const struct budget_life *life)
{
	int i;

	for (i = 0; i < BUDGET_AGES && !life->ages[i].written.seen; i++)
		;
	return i < BUDGET_AGES;
}

struct survival_tail budget_life_estimate(const struct budget_life *life, uint64_t most_ns,
					  struct survival *ret_survival)
{
	struct survival upper = { 0 };
	struct survival_tail tail;
	struct estimate share;
	size_t i;

	life_estimate(life, most_ns, false, ret_survival);
	if (!life_has_written(life))
		return survival_judge_tail(ret_survival);
	life_estimate(life, most_ns, true, &upper);
	for (i = 0; i < ret_survival->count; i++) {
		struct survival_point *point = &ret_survival->points[i];

		survival_at(&upper, point->age_ns, &share);
		if (share.high > point->share.high)
			point->share.high = share.high;
	}
	tail = survival_judge_tail(ret_survival);
	if (tail.shape == SURVIVAL_FALLING && survival_judge_tail(&upper).shape != SURVIVAL_FALLING)
		tail.shape = SURVIVAL_UNKNOWN;
	survival_free(&upper);
	return tail;
}
