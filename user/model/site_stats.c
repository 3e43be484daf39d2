/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See site_stats.h. */
#include "model/site_stats.h"

static void stats_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void stats_add_ages(unsigned __int128 *sum, unsigned __int128 more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = ~(unsigned __int128)0;
}

static uint64_t stats_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void site_stats_add(struct site_stats *sum, const struct site_stats *more)
{
	unsigned int i;

	stats_add(&sum->alloc_bytes, more->alloc_bytes);
	stats_add(&sum->alloc_objects, more->alloc_objects);
	stats_add(&sum->free_bytes, more->free_bytes);
	stats_add(&sum->free_objects, more->free_objects);
	stats_add(&sum->samples, more->samples);
	if (more->oldest_ns > sum->oldest_ns)
		sum->oldest_ns = more->oldest_ns;
	stats_add_ages(&sum->age_sum_ns, more->age_sum_ns);
	stats_add(&sum->grown_objects, more->grown_objects);
	if (more->grown_times > sum->grown_times)
		sum->grown_times = more->grown_times;
	stats_add(&sum->added_objects, more->added_objects);
	stats_add(&sum->unknown_bytes, more->unknown_bytes);
	stats_add(&sum->unknown_objects, more->unknown_objects);
	stats_add(&sum->undecided_bytes, more->undecided_bytes);
	stats_add(&sum->undecided_objects, more->undecided_objects);
	stats_add(&sum->young_bytes, more->young_bytes);
	stats_add(&sum->young_objects, more->young_objects);
	stats_add(&sum->measured_bytes, more->measured_bytes);
	stats_add(&sum->resident_bytes, more->resident_bytes);
	lifespans_add(&sum->lives, &more->lives);
	for (i = 0; i < LIFE_CLASSES; i++)
		stats_add(&sum->ages[i], more->ages[i]);
	if (more->gcs > sum->gcs)
		sum->gcs = more->gcs;
	sum->gcs_known |= more->gcs_known;
}

/* What realloc has done with blocks that are counted. */
static void stats_add_lives(struct site_stats *stats, const struct site_blocks *blocks)
{
	if (blocks->grown)
		stats_add(&stats->grown_objects, blocks->objects);
	if (blocks->grown > stats->grown_times)
		stats->grown_times = blocks->grown;
	if (blocks->added)
		stats_add(&stats->added_objects, blocks->objects);
	if (!blocks->unknown)
		return;
	stats_add(&stats->unknown_bytes, blocks->bytes);
	stats_add(&stats->unknown_objects, blocks->objects);
}

void site_stats_add_blocks(struct site_stats *stats, const struct site_blocks *blocks,
			   uint64_t min_age_ns)
{
	stats_add(&stats->ages[lifespans_class(blocks->age_ns)], blocks->objects);
	if (blocks->age_ns < min_age_ns) {
		stats_add(&stats->young_bytes, blocks->bytes);
		stats_add(&stats->young_objects, blocks->objects);
		return;
	}
	if (blocks->age_ns > stats->oldest_ns)
		stats->oldest_ns = blocks->age_ns;
	stats_add_ages(&stats->age_sum_ns, (unsigned __int128)blocks->age_ns * blocks->objects);
	stats_add_lives(stats, blocks);
	if (!blocks->undecided)
		return;
	stats_add(&stats->undecided_bytes, blocks->bytes);
	stats_add(&stats->undecided_objects, blocks->objects);
}

void site_stats_limit_freed(struct site_stats *stats)
{
	stats->free_bytes = stats_min(stats->free_bytes, stats->alloc_bytes);
	stats->free_objects = stats_min(stats->free_objects, stats->alloc_objects);
}

/* From the last class to the first one, as long as `most` is not used up. */
static void stats_limit_classes(uint64_t classes[LIFE_CLASSES], uint64_t most)
{
	unsigned int i = LIFE_CLASSES;

	while (i--) {
		classes[i] = stats_min(classes[i], most);
		most -= classes[i];
	}
}

void site_stats_settle(struct site_stats *stats)
{
	site_stats_limit_freed(stats);
	stats->lives.untimed = stats_min(stats->lives.untimed, stats->free_objects);
	stats->lives.temporary = stats_min(stats->lives.temporary, stats->free_objects);
	stats_limit_classes(stats->lives.classes, stats->free_objects);
	stats_limit_classes(stats->ages, site_stats_inuse_objects(stats));
}

void site_stats_leave_out_young(struct site_stats *stats)
{
	stats->alloc_bytes -= stats_min(stats->young_bytes, site_stats_inuse_bytes(stats));
	stats->alloc_objects -= stats_min(stats->young_objects, site_stats_inuse_objects(stats));
}

struct site_stats site_stats_counted(const struct site_stats *stats, bool without_young)
{
	struct site_stats counted = *stats;

	site_stats_limit_freed(&counted);
	if (without_young)
		site_stats_leave_out_young(&counted);
	return counted;
}

uint64_t site_stats_inuse_bytes(const struct site_stats *stats)
{
	return stats->alloc_bytes - stats->free_bytes;
}

uint64_t site_stats_inuse_objects(const struct site_stats *stats)
{
	return stats->alloc_objects - stats->free_objects;
}

bool site_stats_hold(const struct site_stats *stats)
{
	return site_stats_inuse_bytes(stats) || site_stats_inuse_objects(stats);
}

bool site_stats_is_measured(const struct site_stats *stats)
{
	return stats->measured_bytes == site_stats_inuse_bytes(stats);
}

uint64_t site_stats_mean_age_ns(const struct site_stats *stats)
{
	uint64_t objects = site_stats_inuse_objects(stats);

	return objects ? (uint64_t)(stats->age_sum_ns / objects) : 0;
}
