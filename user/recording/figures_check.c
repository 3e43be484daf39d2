/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See figures_check.h. */
#include "recording/figures_check.h"

#include <inttypes.h>

/* A value of a row that is at most what another one is. */
static void figures_limit(struct database *database, struct figures_place place, const char *name,
			  uint64_t value, const char *limit, uint64_t most)
{
	if (value > most)
		database_damage_at(database,
				   "figures of site %" PRIu64 " at interval %" PRIu64
				   ": %s of %" PRIu64 " is more than %s of %" PRIu64,
				   place.site, place.interval, name, value, limit, most);
}

/* Numbers up to INT64_MAX; a sum above UINT64_MAX stays there. */
static uint64_t figures_sum(const uint64_t classes[LIFE_CLASSES])
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LIFE_CLASSES; i++)
		if (__builtin_add_overflow(sum, classes[i], &sum))
			return UINT64_MAX;
	return sum;
}

void figures_check(struct database *database, struct figures_place place,
		   const struct site_stats *stats)
{
	const uint64_t freed = stats->free_objects;

	figures_limit(database, place, "free_bytes", stats->free_bytes, "alloc_bytes",
		      stats->alloc_bytes);
	figures_limit(database, place, "free_objects", freed, "alloc_objects",
		      stats->alloc_objects);
	figures_limit(database, place, "life_untimed", stats->lives.untimed, "free_objects", freed);
	figures_limit(database, place, "life_temporary", stats->lives.temporary, "free_objects",
		      freed);
	figures_limit(database, place, "the sum of lives", figures_sum(stats->lives.classes),
		      "free_objects", freed);
	if (freed <= stats->alloc_objects)
		figures_limit(database, place, "the sum of ages", figures_sum(stats->ages),
			      "the blocks in use", site_stats_inuse_objects(stats));
}

void figures_check_ages(struct database *database, struct figures_place place, uint64_t ages_ns,
			uint64_t start_ns, uint64_t time_ns)
{
	if (ages_ns < start_ns || ages_ns > time_ns)
		database_damage_at(database,
				   "figures of site %" PRIu64 " at interval %" PRIu64
				   ": ages_ns of %" PRIu64 " is not between %" PRIu64
				   ", when tracing began, and %" PRIu64,
				   place.site, place.interval, ages_ns, start_ns, time_ns);
}

void figures_check_time(struct database *database, uint64_t interval, uint64_t time_ns,
			uint64_t before_ns)
{
	if (before_ns && time_ns <= before_ns)
		database_damage_at(database,
				   "interval %" PRIu64 ": time_ns of %" PRIu64
				   " is not after %" PRIu64 " of the one before",
				   interval, time_ns, before_ns);
}
