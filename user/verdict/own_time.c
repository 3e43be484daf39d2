/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See own_time.h. */
#include "verdict/own_time.h"

#include <math.h>
#include <stdbool.h>

#include "verdict/interval.h"

/* A class of fewer blocks shows nothing; so many show something alone, if no greater part of them is written to. */
#define SEEN_MIN 5
#define SEEN_ALONE 20
#define CLEAN_WRITTEN 0.15

/* Caches that are not known yet may make the old blocks so many times as many. */
#define CACHED_MOST 1.25

/* Two classes agree if they differ by no more than this many standard errors: 1 of 100 differs by more. */
#define AGREE_Z 2.576

/* What a class comes to: the logarithm of the part that is the target's own time. */
struct own_time_ratio {
	double log, variance;
};

/* Classes that agree with one of them. */
struct own_time_group {
	double weight;
	double log, variance; /* of their mean */
	size_t count;
	double alone; /* the variance of the last one, if there is no other */
	double written; /* least part of one's blocks that is written to, by the others; INFINITY = too few blocks */
};

/*
 * False of a class that shows nothing: its growth may well be none, or windows have certainly seen more old blocks than it grew by. Then most of these
 * are of a cache, or others that look like those of before have taken their places.
 */
static bool own_time_ratio(const struct own_time_class *class, double window_s,
			   struct own_time_ratio *ret_ratio)
{
	double error;

	if (class->seen < SEEN_MIN || !(class->bytes > 0) || !(class->growth > class->growth_error))
		return false;
	error = class->growth_error / class->growth;
	ret_ratio->log = log(class->bytes / class->growth / window_s);
	ret_ratio->variance = 1 / class->seen + error * error;
	return ret_ratio->log <= AGREE_Z * sqrt(1 / class->independent + error * error);
}

static bool own_time_agrees(const struct own_time_ratio *left, const struct own_time_ratio *right)
{
	return fabs(left->log - right->log) <= AGREE_Z * sqrt(left->variance + right->variance);
}

static void own_time_join(struct own_time_group *group, const struct own_time_class *class,
			  const struct own_time_ratio *ratio)
{
	double written = class->written_bytes / class->bytes;

	group->count++;
	group->weight += class->seen / (1 + written);
	group->log += ratio->log / ratio->variance;
	group->variance += 1 / ratio->variance;
	group->alone = ratio->variance - 1 / class->seen + 1 / class->independent;
	if (class->seen >= SEEN_ALONE)
		group->written = fmin(group->written, written);
}

static struct own_time_group own_time_group(const struct own_time_class *classes, size_t count,
					    double window_s, const struct own_time_ratio *center)
{
	struct own_time_group group = { .written = INFINITY };
	struct own_time_ratio ratio;
	size_t i;

	for (i = 0; i < count; i++)
		if (own_time_ratio(&classes[i], window_s, &ratio) &&
		    own_time_agrees(&ratio, center))
			own_time_join(&group, &classes[i], &ratio);
	group.variance = 1 / group.variance;
	group.log *= group.variance;
	if (group.count == 1)
		group.variance = group.alone;
	return group;
}

static bool own_time_is_certain(const struct own_time_group *group)
{
	return group->written <= (group->count > 1 ? INFINITY : CLEAN_WRITTEN) &&
	       isfinite(group->written);
}

void own_time_calibrate(const struct own_time_class *classes, size_t count, double window_s,
			struct estimate *own)
{
	struct own_time_group best = { 0 }, group;
	struct own_time_ratio center;
	size_t i;

	for (i = 0; i < count && window_s > 0; i++) {
		if (!own_time_ratio(&classes[i], window_s, &center))
			continue;
		group = own_time_group(classes, count, window_s, &center);
		if (own_time_is_certain(&group) && group.weight > best.weight)
			best = group;
	}
	if (!(best.weight > 0))
		return;
	own->value = fmin(fmax(exp(best.log), own->low), own->high);
	own->low =
		fmin(fmax(own->low, exp(best.log - INTERVAL_Z * sqrt(best.variance)) / CACHED_MOST),
		     own->value);
	own->high =
		fmin(own->high, fmax(own->value, exp(best.log + INTERVAL_Z * sqrt(best.variance)) *
							 (1 + best.written)));
}
