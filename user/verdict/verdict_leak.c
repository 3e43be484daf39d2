/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See verdict_leak.h. The evidence is in the classes of ages, each of which ends at twice the age at which it begins. All of this must
 * hold, since each rules out something that only looks like a leak (docs/verdicts.md):
 * - others are freed, and before an age: a site of which nothing is freed may be a cache that is not full;
 * - of the blocks that reach this age hardly any is freed ever after, and there are enough that are twice as old;
 * - these were born all the time, as many of a number of births as at first: what fills keeps ever fewer;
 * - births go on: in a pause, all that a cache holds becomes old, and a start ends;
 * - old blocks are not freed of late, as in a cache that has become full;
 * - where garbage is collected, they have outlived two collections.
 */
#include "verdict/verdict_leak.h"

#include <math.h>

#include "verdict/interval.h"
#include "verdict/survival.h"

/* Blocks in use of twice the age at which the others are freed. */
#define SURVIVORS_MIN 10
/* Blocks of the last half that are kept: this part of what it was before, with confidence not less. */
#define LASTING_LEAST 0.4
/* And so many of them. */
#define LASTING_MIN 5
/* Old blocks are replaced if so many are freed, of so many that become old, or more. */
#define REPLACED_LEAST 0.5
#define REPLACED_BLOCKS 20
/* While those that stay became old, blocks must be born at no less than this part of their mean rate before. */
#define ACTIVE_LEAST 0.6
/* For at least as long as it takes until so many are born, and for the time between two moments: in less, none may be. */
#define ACTIVE_BIRTHS 20
/* Of the others, so few may live longer than the age that is waited for. */
#define LATE_PART 0.01

/* Sums of the classes from each on. */
struct leak_classes {
	double alive[LIFE_CLASSES + 1], freed[LIFE_CLASSES + 1];
};

static struct leak_classes leak_sum(const struct site_stats *stats)
{
	struct leak_classes sums = { 0 };
	unsigned int i;

	for (i = LIFE_CLASSES; i-- > 0;) {
		sums.alive[i] = sums.alive[i + 1] + (double)stats->ages[i];
		sums.freed[i] = sums.freed[i + 1] + (double)stats->lives.classes[i];
	}
	return sums;
}

/* Are there others, all but a few of which are freed before a class? */
static bool leak_has_others(const struct leak_classes *sums, unsigned int class)
{
	double others = sums->freed[0] - sums->freed[class];

	return others >= VERDICT_OTHERS_MIN &&
	       others >= VERDICT_OTHERS_PART * (sums->freed[0] + sums->alive[0]);
}

/*
 * Of the blocks that reach a class, the part that is freed then or later. Those in use that have not yet reached the next one are half
 * seen. There must be enough that have.
 */
static bool leak_is_flat(const struct leak_classes *sums, unsigned int class)
{
	double freed = sums->freed[class];
	double stay = (sums->alive[class] + sums->alive[class + 1]) / 2;

	return sums->alive[class + 1] >= SURVIVORS_MIN &&
	       interval_count(freed).high <= SURVIVAL_FLAT_LOSS * (freed + stay);
}

/* The least class after which hardly any block is freed. LIFE_CLASSES = there is none. */
static unsigned int leak_find_class(const struct leak_classes *sums)
{
	unsigned int class;

	for (class = 1; class < LIFE_CLASSES - 1; class ++)
		if (leak_has_others(sums, class) && leak_is_flat(sums, class))
			return class;
	return LIFE_CLASSES;
}

/* The class whose beginning parts old blocks from young ones: at most this part of the time, if that is old enough. */
#define MIDDLE_MOST 0.75

static unsigned int leak_middle(unsigned int class, double all_s)
{
	unsigned int middle = class + 1;

	while (middle < LIFE_CLASSES - 1 &&
	       (double)lifespans_class_start(middle + 1) <= all_s * 1e9 * MIDDLE_MOST)
		middle++;
	return middle;
}

static double leak_start_s(unsigned int class)
{
	return (double)lifespans_class_start(class) / 1e9;
}

/* Blocks that stay are born at an even part of all births: late ones are as many as early ones, or more. */
static bool leak_lasts(const struct verdict_line *line, const struct leak_classes *sums,
		       unsigned int class)
{
	double all_s = line->moments[line->count - 1].time_s;
	unsigned int middle = leak_middle(class, all_s);
	double until = verdict_line_born(line, all_s - leak_start_s(middle));
	double births = verdict_line_born(line, all_s - leak_start_s(class)) - until;
	double young = sums->alive[class] - sums->alive[middle];
	double before = until > 0 ? sums->alive[middle] / until : 0;

	if (young < LASTING_MIN)
		return false;
	return interval_share(young, fmax(births, young)).high >= LASTING_LEAST * fmin(before, 1);
}

/* Of late, are old blocks freed as new ones become old? In a cache that is full, as many are. */
static bool leak_is_replaced(const struct verdict_line *line, const struct leak_classes *sums,
			     unsigned int class)
{
	const struct verdict_moment *last = &line->moments[line->count - 1];
	unsigned int middle = leak_middle(class, last->time_s);
	double rate = (sums->alive[class] - sums->alive[middle]) /
		      (fmin(leak_start_s(middle), last->time_s) - leak_start_s(class));
	size_t age = history_age(class), i;
	double expected;

	for (i = line->count - 1; i-- > 0;) {
		expected = rate * (last->time_s - line->moments[i].time_s);
		if (expected >= REPLACED_BLOCKS)
			return last->freed[age] - line->moments[i].freed[age] >=
			       REPLACED_LEAST * expected;
	}
	return false;
}

/*
 * Were blocks born as before while those that stay became old? In a pause, all that a cache holds becomes old. Of one that replaces its
 * oldest block, none is twice as old as any that was freed unless births have come to less than this part.
 */
static bool leak_is_active(const struct verdict_line *line, unsigned int class)
{
	const struct verdict_moment *last = &line->moments[line->count - 1];
	double birth_s = last->time_s / last->born, spacing_s = last->time_s / (double)line->count;
	double aging_s = fmax(leak_start_s(class + 1), fmax(ACTIVE_BIRTHS * birth_s, spacing_s));
	double before_s = last->time_s - aging_s;
	double before = verdict_line_born(line, before_s);

	return before_s > 0 && last->born - before >= ACTIVE_LEAST * before / before_s * aging_s;
}

/* How much longer to look until there are enough blocks twice as old as the others become. */
static uint64_t leak_wait(const struct verdict_line *line, const struct leak_classes *sums)
{
	double all_s = line->moments[line->count - 1].time_s, wait;
	unsigned int class = 1;

	if (sums->freed[0] < VERDICT_OTHERS_MIN)
		return 0;
	while (class < LIFE_CLASSES - 1 && sums->freed[class] > LATE_PART * sums->freed[0])
		class ++;
	wait = 4 * leak_start_s(class) - all_s;
	return (uint64_t)(fmax(wait, all_s / 2) * 1e9);
}

/*
 * Of all blocks that were born so long ago that the others are freed, those in use. By the curve, blocks would count that are of the others' age:
 * of few leaks they are more than the leaked ones, and where within their class they are freed is not known.
 */
static struct estimate leak_share(const struct verdict_line *line, const struct leak_classes *sums,
				  unsigned int class)
{
	double all_s = line->moments[line->count - 1].time_s, stay = sums->alive[class + 1];

	return interval_share(stay,
			      fmax(verdict_line_born(line, all_s - leak_start_s(class + 1)), stay));
}

struct verdict_leak verdict_leak_find(const struct verdict_line *line,
				      const struct site_stats *stats)
{
	const struct leak_classes sums = leak_sum(stats);
	const unsigned int class = leak_find_class(&sums);
	struct verdict_leak leak = { 0 };

	if (class == LIFE_CLASSES) {
		leak.wait_ns = leak_wait(line, &sums);
		return leak;
	}
	leak.others_ns = lifespans_class_start(class);
	leak.survivors = (uint64_t)sums.alive[class + 1];
	leak.found = leak_is_active(line, class) && leak_lasts(line, &sums, class) &&
		     !leak_is_replaced(line, &sums, class);
	leak.may_be_garbage = leak.found && stats->gcs_known &&
			      stats->gcs < VERDICT_COLLECTIONS_MIN;
	leak.found &= !leak.may_be_garbage;
	if (leak.found)
		leak.share = leak_share(line, &sums, class);
	return leak;
}
