/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See births.h. */
#include "recording/births.h"

/* So that what is multiplied by a number of blocks stays a number. */
#define MEAN_MAX (INT64_MAX / 4)

/* Blocks in use, without the young ones, which have no part in the ages. */
static uint64_t births_count(const struct site_stats *stats)
{
	uint64_t objects =
		stats->alloc_objects > stats->free_objects ? site_stats_inuse_objects(stats) : 0;

	return stats->young_objects < objects ? objects - stats->young_objects : 0;
}

/* Rounded down, as the rest is at least 0. */
static int64_t births_divide(__int128 sum, uint64_t count, uint64_t *ret_rest)
{
	__int128 mean = sum / (__int128)count, rest = sum % (__int128)count;

	if (rest < 0) {
		rest += count;
		mean--;
	}
	/* Ages that contradict the number of blocks. */
	if (mean > MEAN_MAX || mean < -MEAN_MAX)
		mean = rest = 0;
	*ret_rest = (uint64_t)rest;
	return (int64_t)mean;
}

struct births births_of(const struct site_stats *stats, uint64_t time_ns)
{
	uint64_t count = births_count(stats);
	unsigned __int128 ages = stats->age_sum_ns;
	const unsigned __int128 most = (unsigned __int128)1 << 126;
	struct births births = { 0 };

	if (!count)
		return births;
	if (ages > most)
		ages = most;
	births.oldest_ns = time_ns > stats->oldest_ns ? time_ns - stats->oldest_ns : 0;
	births.mean_ns = births_divide((__int128)time_ns * (__int128)count - (__int128)ages, count,
				       &births.rest_ns);
	return births;
}

void births_restore(const struct births *births, uint64_t time_ns, struct site_stats *stats)
{
	uint64_t count = births_count(stats);
	__int128 sum;

	stats->oldest_ns = 0;
	stats->age_sum_ns = 0;
	if (!count || births->mean_ns > MEAN_MAX || births->mean_ns < -MEAN_MAX)
		return;
	sum = ((__int128)time_ns - births->mean_ns) * (__int128)count - (__int128)births->rest_ns;
	if (time_ns > births->oldest_ns)
		stats->oldest_ns = time_ns - births->oldest_ns;
	if (sum > 0)
		stats->age_sum_ns = (unsigned __int128)sum;
}
