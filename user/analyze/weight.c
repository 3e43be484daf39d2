/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See weight.h. */
#include "analyze/weight.h"

struct site_stats weight_counted(const struct snapshot_site *site,
				 const struct report_options *options)
{
	return site_stats_counted(&site->stats, options->without_young);
}

uint64_t weight_of(const struct site_stats *stats, enum report_sort sort)
{
	switch (sort) {
	case SORT_INUSE:
		return site_stats_inuse_bytes(stats);
	case SORT_INUSE_OBJECTS:
		return site_stats_inuse_objects(stats);
	case SORT_ALLOC:
		return stats->alloc_bytes;
	case SORT_ALLOC_OBJECTS:
		return stats->alloc_objects;
	case SORT_AGE:
		return site_stats_hold(stats) ? stats->oldest_ns : 0;
	case SORT_GROWTH:
	case SORT_LEAK:
		return site_stats_inuse_bytes(stats);
	case SORT_CHURN:
		return stats->free_bytes;
	case SORT_TEMPORARY:
		return stats->lives.temporary;
	case SORT_AUTO:
		break;
	}
	return 0;
}
