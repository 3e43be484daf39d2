/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how fast memory grows, and which sites cause it. Censuses of the heap show the growth
 * of all blocks of one size class: a count, unaffected by the slowdown of tracing. The cohort's
 * blocks that are still in use show how to divide it among sites. Pure.
 *
 * What windows see cannot simply be scaled by their share of the time: in a window a busy target
 * allocates many times more slowly, and the result would be too low by that factor. It is a lower
 * bound, and all there is without a census.
 */
#ifndef VERDICT_GROWTH_RATE_H
#define VERDICT_GROWTH_RATE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/estimate.h"

/* The result of one census. */
struct growth_rate_point {
	double time_s, bytes;
};

/*
 * Growth in bytes per second by regression; `points` are in time order. The interval allows for
 * blocks that come and go, and for growth at random moments by blocks of `block_bytes`. With fewer
 * than 3 points it is unlimited.
 */
struct estimate growth_rate_of(const struct growth_rate_point *points, size_t count,
			       double block_bytes);

/* The old blocks of one site in one size class. */
struct growth_rate_site {
	/* Number actually seen; bytes that they represent */
	double unchanged_seen, unchanged_bytes;
	/*
	 * How many blocks count as one independent observation, since they come in bursts: the
	 * variance of their number per window divided by its mean. 0 = not known.
	 */
	double dispersion;
	double written_seen, written_bytes; /* their contents have changed since birth */
	/* Its survival curve falls, or may fall: a cache, perhaps, whose blocks will be freed */
	bool falling;
	/*
	 * Results in bytes per second. `written`: its share, by written blocks, of the class's
	 * `written`; `low` is 0.
	 */
	struct estimate rate, written;
};

/* All sites of one size class. */
struct growth_rate_class {
	bool counted; /* there is a census, so `growth` is known */
	struct estimate growth; /* bytes per second */
	/*
	 * The length, in seconds at the target's normal speed, of the windows in which the old
	 * blocks were born. `high` is their total length; the others may be 0.
	 */
	struct estimate window_s;
	struct growth_rate_site *sites;
	size_t count;
	/*
	 * Results: growth by blocks that are in use and were written to, or that replaced others;
	 * and growth without an owner.
	 */
	struct estimate written, unknown;
};

/* The variance of a site's unchanged bytes. */
double growth_rate_variance(const struct growth_rate_site *site);

/*
 * Divide the growth among the sites in proportion to their unchanged blocks. Growth that these
 * cannot have caused, since windows would have seen more blocks then, goes to the written blocks,
 * and otherwise to nobody; so a leak with written blocks never inflates another site. Where windows
 * were too slow to decide, the interval spans from the share among all old blocks to the share
 * among the unchanged ones. Without a census, each rate is a lower bound, and its `high` INFINITY.
 */
void growth_rate_divide(struct growth_rate_class *class);

#endif
