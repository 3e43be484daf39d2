/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See site_survival.h. */
#include "verdict/site_survival.h"

#include <math.h>

#include "verdict/interval.h"
#include "base/memory.h"

/* More blocks than this part of those that were born cannot have become so old, but for what is not known between two moments. */
#define REACHED_MOST 1.02
#define REACHED_MORE 2

/* A class has deaths, blocks alive at its start, and at its end. */
#define EVENTS_MAX (3 * LIFE_CLASSES)

bool site_survival_is_known(const struct site_stats *stats)
{
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++)
		if (stats->ages[i] || stats->lives.classes[i])
			return true;
	return false;
}

/* Where a class ends, of which nothing is known beyond `last`. */
static uint64_t site_survival_end(unsigned int class, uint64_t last)
{
	uint64_t start = lifespans_class_start(class), end = lifespans_class_end(class);

	return last > start && last < end ? last : end;
}

/* Half of the blocks in use; at age 0 they show nothing. */
static struct survival_event site_survival_alive(uint64_t blocks, uint64_t age_ns)
{
	return (struct survival_event){ .after_ns = age_ns,
					.until_ns = SURVIVAL_ALIVE,
					.count = age_ns ? (double)blocks / 2 : 0,
					.weight = 1 };
}

/* Blocks that have become older than a class, in use or freed since. */
static void site_survival_reached(const struct site_stats *stats, double reached[LIFE_CLASSES])
{
	double sum = 0;
	unsigned int i;

	for (i = LIFE_CLASSES; i-- > 0;) {
		reached[i] = sum;
		sum += (double)stats->ages[i] + (double)stats->lives.classes[i];
	}
}

/* Are the blocks that have become old among those that were born? Not where realloc has moved blocks in, or out. */
static bool site_survival_fits(const struct site_stats *stats, const double reached[LIFE_CLASSES],
			       const double born[LIFE_CLASSES])
{
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++)
		if (reached[i] > born[i] * REACHED_MOST + REACHED_MORE)
			return false;
	return !stats->lives.untimed;
}

/* Where a class ends: `reached` of `born`, which have been no more at the point before. */
static struct survival_point site_survival_point(unsigned int class, double reached, double born,
						 double before)
{
	const double share = fmin(reached / born, before);

	return (struct survival_point){ .age_ns = lifespans_class_end(class),
					.at_risk = before * born,
					.effective = before * born,
					.deaths = (before - share) * born,
					.share = interval_share(share * born, born),
					.variance = share * (1 - share) / born };
}

static bool site_survival_by_births(const struct site_stats *stats, const double born[LIFE_CLASSES],
				    struct survival *survival)
{
	double reached[LIFE_CLASSES], before = 1, freed = 0, count;
	unsigned int i;

	site_survival_reached(stats, reached);
	if (!site_survival_fits(stats, reached, born))
		return false;
	survival_free(survival);
	survival->points = memory_alloc(LIFE_CLASSES, sizeof(*survival->points));
	for (i = 0; i < LIFE_CLASSES - 1 && born[i] >= 1; i++) {
		/* Those that have not become older were freed: there cannot be more of them. */
		freed += (double)stats->lives.classes[i];
		count = fmin(fmax(born[i], reached[i]), reached[i] + freed);
		if (!(count >= 1))
			break;
		survival->points[i] = site_survival_point(i, reached[i], count, before);
		before = survival->points[i].share.value;
	}
	survival->count = i;
	return true;
}

/* By Kaplan and Meier. */
static void site_survival_by_classes(const struct site_stats *stats, struct survival *survival)
{
	struct survival_event events[EVENTS_MAX], *event = events;
	uint64_t longest = lifespans_longest_ns(&stats->lives), start;
	unsigned int i;

	for (i = 0; i < LIFE_CLASSES; i++) {
		start = lifespans_class_start(i);
		*event++ = (struct survival_event){ .after_ns = start,
						    .until_ns = site_survival_end(i, longest),
						    .count = (double)stats->lives.classes[i],
						    .weight = 1 };
		*event++ = site_survival_alive(stats->ages[i], start);
		*event++ =
			site_survival_alive(stats->ages[i], site_survival_end(i, stats->oldest_ns));
	}
	/* The last class has no end. */
	if (event[-3].until_ns == SURVIVAL_ALIVE)
		event[-3].until_ns = 2 * start;
	if (event[-1].after_ns == SURVIVAL_ALIVE)
		event[-1].after_ns = start;
	survival_estimate(survival, events, EVENTS_MAX);
}

void site_survival_estimate(const struct site_stats *stats, const double born[LIFE_CLASSES],
			    struct survival *survival)
{
	if (!born || !site_survival_by_births(stats, born, survival))
		site_survival_by_classes(stats, survival);
}

bool site_survival_age(const struct survival *survival, double share, uint64_t *ret_age_ns)
{
	size_t i;

	for (i = 0; i < survival->count; i++)
		if (survival->points[i].share.value <= share) {
			*ret_age_ns = survival->points[i].age_ns;
			return true;
		}
	return false;
}
