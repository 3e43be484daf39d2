/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See growth.h. */
#include "verdict/growth.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"

struct growth_site {
	uint64_t key;
	uint64_t bytes;
};

static int growth_site_compare(const void *a, const void *b)
{
	const struct growth_site *left = a, *right = b;

	return compare_numbers(left->key, right->key);
}

/* What the site held at the last report; NULL = nothing. */
static const struct growth_site *growth_find(const struct growth_base *base, uint64_t key)
{
	const struct growth_site wanted = { .key = key };

	if (!base->count)
		return NULL;
	return bsearch(&wanted, base->sites, base->count, sizeof(wanted), growth_site_compare);
}

static int64_t growth_difference(uint64_t now, uint64_t before)
{
	uint64_t size = now > before ? now - before : before - now;

	size = size < INT64_MAX ? size : INT64_MAX;
	return now > before ? (int64_t)size : -(int64_t)size;
}

void growth_add(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = more > 0 ? INT64_MAX : -INT64_MAX;
}

/* The sites of a row: its members, or itself. */
static const struct snapshot_site *growth_sites(const struct snapshot_site *row, size_t *ret_count)
{
	*ret_count = row->member_count ? row->member_count : 1;
	return row->member_count ? row->members : row;
}

struct growth growth_of(const struct growth_base *base, const struct snapshot_site *row,
			bool without_young)
{
	struct growth growth = { .known = base->known, .appeared = base->known };
	const struct snapshot_site *sites;
	size_t count, i;

	sites = growth_sites(row, &count);
	for (i = 0; i < count; i++) {
		const struct site_stats stats = site_stats_counted(&sites[i].stats, without_young);
		const struct growth_site *before = growth_find(base, sites[i].key);

		growth.appeared &= !before;
		growth_add(&growth.bytes, growth_difference(site_stats_inuse_bytes(&stats),
							    before ? before->bytes : 0));
	}
	return growth;
}

static size_t growth_count_sites(const struct snapshot *snapshot)
{
	size_t sum = 0, count, i;

	for (i = 0; i < snapshot->site_count; i++) {
		growth_sites(&snapshot->sites[i], &count);
		sum += count;
	}
	return sum;
}

static void growth_keep_row(struct growth_base *base, const struct snapshot_site *row,
			    bool without_young)
{
	const struct snapshot_site *sites;
	size_t count, i;

	sites = growth_sites(row, &count);
	for (i = 0; i < count; i++) {
		const struct site_stats stats = site_stats_counted(&sites[i].stats, without_young);

		if (site_stats_hold(&stats))
			base->sites[base->count++] = (struct growth_site){
				sites[i].key,
				site_stats_inuse_bytes(&stats),
			};
	}
}

void growth_keep(struct growth_base *base, const struct snapshot *snapshot, bool without_young)
{
	size_t i;

	growth_free(base);
	base->known = true;
	base->sites = memory_alloc(growth_count_sites(snapshot), sizeof(*base->sites));
	for (i = 0; i < snapshot->site_count; i++)
		growth_keep_row(base, &snapshot->sites[i], without_young);
	qsort(base->sites, base->count, sizeof(*base->sites), growth_site_compare);
}

void growth_free(struct growth_base *base)
{
	free(base->sites);
	*base = (struct growth_base){ 0 };
}
