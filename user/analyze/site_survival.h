/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survival curve of a site whose calls were all traced, from the histogram of its lifespans and that of the ages of its blocks in
 * use. Pure. A class of ages is all that is known of a block, so:
 * - shares are right where classes end, and at the longest lifespan;
 * - half of the blocks in use of a class count as looked at up to its start, half up to its end, but none beyond the oldest one;
 * - blocks that realloc has moved to another site are left out here, and count there with their whole lifespan.
 */
#ifndef ANALYZE_SITE_SURVIVAL_H
#define ANALYZE_SITE_SURVIVAL_H

#include "analyze/survival.h"
#include "model/site_stats.h"

/* Is there a block of which a lifespan or an age is known? */
bool site_survival_is_known(const struct site_stats *stats);

/* Free with survival_free. */
void site_survival_estimate(const struct site_stats *stats, struct survival *survival);

/* The least age of the curve at which no more than `share` live on. False if more do at all ages. */
bool site_survival_age(const struct survival *survival, double share, uint64_t *ret_age_ns);

#endif
