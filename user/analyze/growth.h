/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rows have grown by from one report to the next. A row is known again by its sites, whatever its rank, and however sites
 * were added up: its growth is that of each of them. What ended programs held is no loss of the others in their row.
 */
#ifndef ANALYZE_GROWTH_H
#define ANALYZE_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"

/* What each site held at the last report. {0} = there was none. Free with growth_free. */
struct growth_base {
	struct growth_site *sites; /* by key; only those that held something */
	size_t count;
	bool known;
};

struct growth {
	int64_t bytes; /* how much more is in use; in the first report, what is */
	bool known; /* there was a report before */
	bool appeared; /* there was, and none of its sites held anything */
};

/* Of a row, or of a site as it was recorded. `without_young`: as the report counts it. */
struct growth growth_of(const struct growth_base *base, const struct snapshot_site *row,
			bool without_young);

/* Add to a sum of growths, which stays at its limits. */
void growth_add(int64_t *sum, int64_t more);

/* Keep what the sites of `snapshot`, grouped or not, hold now: for the next report. */
void growth_keep(struct growth_base *base, const struct snapshot *snapshot, bool without_young);
void growth_free(struct growth_base *base);

#endif
