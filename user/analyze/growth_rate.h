/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast memory grows, and whose growth it is. Censuses of the heap give how fast all blocks of one size grow: that is counted, and
 * right whatever tracing does to the target. The blocks of a cohort that are still in use give which site's share of it is. Pure.
 *
 * What windows have seen is not simply scaled by the share of time that they took: within a window a busy target allocates many times
 * slower than without, so that would be too low by the same factor. It is a lower bound, and all there is without a census.
 */
#ifndef ANALYZE_GROWTH_RATE_H
#define ANALYZE_GROWTH_RATE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/estimate.h"

/* What a census counted. */
struct growth_rate_point {
	double time_s, bytes;
};

/*
 * Bytes per second by regression; `points` are in the order of time. The interval is wide enough for blocks that come and go, and for
 * growth at random moments by blocks of `block_bytes`. With less than 3 points it is without limits.
 */
struct estimate growth_rate_of(const struct growth_rate_point *points, size_t count,
			       double block_bytes);

/* The old blocks of one site, of one size. */
struct growth_rate_site {
	double unchanged_seen, unchanged_bytes; /* seen: in fact; bytes: that they represent */
	/* So many blocks are worth one, since they come in bursts: the variance of their number in a window by its mean. 0 = not known. */
	double dispersion;
	double written_seen, written_bytes; /* with contents that are not those of their birth */
	bool falling; /* its survival curve falls, or may: they may be a cache's, and will be freed then */
	/* Filled in, in bytes per second. `written`: of the class's, by its part of the written blocks; its `low` is 0. */
	struct estimate rate, written;
};

/* Of one size, all sites. */
struct growth_rate_class {
	bool counted; /* there is a census: the next is known */
	struct estimate growth; /* bytes per second */
	/*
	 * How many seconds at the target's own speed the windows are worth in which the old blocks were born. `high` is the sum of
	 * their lengths; the others may be 0.
	 */
	struct estimate window_s;
	struct growth_rate_site *sites;
	size_t count;
	/* Filled in: growth of blocks that are in use and written to, or of what took their place; and what is nobody's. */
	struct estimate written, unknown;
};

/* The variance of a site's unchanged bytes. */
double growth_rate_variance(const struct growth_rate_site *site);

/*
 * Divide the growth among the sites by their unchanged blocks. What these cannot have caused, by what windows would have had to see
 * then, stays with the written blocks, and else with nobody; so a leak whose blocks are written to never raises another site.
 * Where windows were too slow to show it, the interval reaches from the share in all old blocks to that in the unchanged ones.
 * Without a census, each rate is a lower bound, and its `high` INFINITY.
 */
void growth_rate_divide(struct growth_rate_class *class);

#endif
