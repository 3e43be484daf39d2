/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survival curve of a fully traced site, from its histogram of lifespans and that of the ages
 * of its blocks in use. Pure. Only the age class of a block is known, so shares are given at the
 * ends of classes.
 *
 * If births are known over time, a share is computed over all blocks born that long ago: those in
 * use that are older, and those that had become older when freed. Otherwise it is the Kaplan-Meier
 * estimate. There, the blocks in use within an age class in which blocks are freed bias it upward
 * where few stay: half of them count as observed up to the start of the class, half up to its end,
 * but none beyond the oldest block. This also applies to sites with blocks from realloc: a block
 * that realloc moved to another site is left out here, and counts there with its whole lifespan.
 */
#ifndef VERDICT_SITE_SURVIVAL_H
#define VERDICT_SITE_SURVIVAL_H

#include "verdict/survival.h"
#include "model/lifespans.h"
#include "model/site_stats.h"

/* Is the lifespan or age of any block known? */
bool site_survival_is_known(const struct site_stats *stats);

/*
 * `born`: for each class, the number of blocks born longer ago than its end; NULL = unknown. Free
 * with survival_free.
 */
void site_survival_estimate(const struct site_stats *stats, const double born[LIFE_CLASSES],
			    struct survival *survival);

/* The least age on the curve that at most `share` survive. False if more do at all ages. */
bool site_survival_age(const struct survival *survival, double share, uint64_t *ret_age_ns);

#endif
