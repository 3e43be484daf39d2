/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survival curve of a site whose calls were all traced, from the histogram of its lifespans and that of the ages of its blocks in
 * use. Pure. A class of ages is all that is known of a block, so there are shares where classes end.
 *
 * Where it is known when blocks were born, a share is of all that were born so long ago: those in use that are older, and those that have
 * become older until they were freed. Else it is by Kaplan and Meier, and what is in use of the class in which blocks are freed makes it too high where few stay:
 * half of these count as looked at up to its start, half up to its end, but none beyond the oldest one. So it is of a site that has blocks of realloc: what that
 * has moved to another site is left out here, and counts there with its whole lifespan.
 */
#ifndef ANALYZE_SITE_SURVIVAL_H
#define ANALYZE_SITE_SURVIVAL_H

#include "analyze/survival.h"
#include "model/lifespans.h"
#include "model/site_stats.h"

/* Is there a block of which a lifespan or an age is known? */
bool site_survival_is_known(const struct site_stats *stats);

/* `born`: of each class, the blocks that were born longer ago than where it ends; NULL = not known. Free with survival_free. */
void site_survival_estimate(const struct site_stats *stats, const double born[LIFE_CLASSES],
			    struct survival *survival);

/* The least age of the curve at which no more than `share` live on. False if more do at all ages. */
bool site_survival_age(const struct survival *survival, double share, uint64_t *ret_age_ns);

#endif
