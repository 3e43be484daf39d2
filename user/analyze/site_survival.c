/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See site_survival.h. */
#include "analyze/site_survival.h"

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

void site_survival_estimate(const struct site_stats *stats, struct survival *survival)
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
