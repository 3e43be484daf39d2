/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sort key of sites. */
#ifndef ANALYZE_WEIGHT_H
#define ANALYZE_WEIGHT_H

#include "analyze/report.h"

/* The figures of a site, as the report counts them. */
struct site_stats weight_counted(const struct snapshot_site *site,
				 const struct report_options *options);

/* Of these, what `sort`, which is not SORT_AUTO, ranks by; with SORT_GROWTH and SORT_LEAK, the parts of a row by what they hold. */
uint64_t weight_of(const struct site_stats *stats, enum report_sort sort);

#endif
