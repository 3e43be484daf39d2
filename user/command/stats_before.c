/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stats_before.h. */
#include "command/stats_before.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"

struct stats_before_site {
	uint64_t key;
	uint64_t alloc_bytes, alloc_objects, free_bytes, free_objects;
};

struct stats_before {
	size_t count;
	struct stats_before_site sites[]; /* by key */
};

static int stats_before_compare(const void *a, const void *b)
{
	const struct stats_before_site *left = a, *right = b;

	return compare_numbers(left->key, right->key);
}

struct stats_before *stats_before_new(const struct snapshot *snapshot)
{
	struct stats_before *before =
		memory_alloc(1, sizeof(*before) + snapshot->site_count * sizeof(before->sites[0]));
	size_t i;

	before->count = snapshot->site_count;
	for (i = 0; i < before->count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		before->sites[i] = (struct stats_before_site){ site->key, site->stats.alloc_bytes,
							       site->stats.alloc_objects,
							       site->stats.free_bytes,
							       site->stats.free_objects };
	}
	qsort(before->sites, before->count, sizeof(before->sites[0]), stats_before_compare);
	return before;
}

void stats_before_free(struct stats_before *before)
{
	free(before);
}

/* Of the same run the later one is no less, but for a site that was forgotten and has come back. */
static uint64_t stats_before_less(uint64_t later, uint64_t earlier)
{
	return later >= earlier ? later - earlier : later;
}

void stats_before_subtract(const struct stats_before *before, struct snapshot *snapshot)
{
	const struct stats_before_site *site;
	struct stats_before_site wanted;
	struct site_stats *stats;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		stats = &snapshot->sites[i].stats;
		wanted.key = snapshot->sites[i].key;
		site = bsearch(&wanted, before->sites, before->count, sizeof(wanted),
			       stats_before_compare);
		if (!site)
			continue;
		stats->alloc_bytes = stats_before_less(stats->alloc_bytes, site->alloc_bytes);
		stats->alloc_objects = stats_before_less(stats->alloc_objects, site->alloc_objects);
		stats->free_bytes = stats_before_less(stats->free_bytes, site->free_bytes);
		stats->free_objects = stats_before_less(stats->free_objects, site->free_objects);
		site_stats_limit_freed(stats);
	}
}
