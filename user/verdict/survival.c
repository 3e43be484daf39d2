/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See survival.h. The points are all ages at which an event ends. A death between two ages is divided among the points between them
 * in proportion to their shares of all deaths; the product-limit estimator of what that gives has new shares, and so on.
 */
#include "verdict/survival.h"

#include <math.h>
#include <stdlib.h>

#include "verdict/interval.h"
#include "base/compare.h"
#include "base/memory.h"

/* Iterations end when no share changes by more, or after so many. */
#define SURVIVAL_PRECISION 1e-6
#define SURVIVAL_ROUNDS_MAX 1000

/* A tail of fewer blocks is not judged. */
#define SURVIVAL_TAIL_BLOCKS 10

/* An event as points: a death at one of [first, end), or alive at all before `end`. */
struct survival_range {
	size_t first, end;
	bool alive;
	double blocks, squares; /* sums of weights, and of their squares */
};

/* A curve while it is made. */
struct survival_work {
	struct survival_point *points;
	size_t count;
	struct survival_range *ranges;
	size_t range_count;
	bool *ends; /* of each point: a death may be at it */
	double *mass; /* of each point: the share of all births that dies at it */
	double *sums; /* room for two sums for each point, and one more of each */
};

static bool survival_is_valid(const struct survival_event *event)
{
	return isfinite(event->count) && isfinite(event->weight) && event->count > 0 &&
	       event->weight > 0 && event->after_ns <= event->until_ns &&
	       event->after_ns != SURVIVAL_ALIVE;
}

static uint64_t survival_age(const struct survival_event *event)
{
	return event->until_ns == SURVIVAL_ALIVE ? event->after_ns : event->until_ns;
}

static int survival_compare_points(const void *a, const void *b)
{
	const struct survival_point *left = a, *right = b;

	return compare_numbers(left->age_ns, right->age_ns);
}

static void survival_make_points(struct survival_work *work, const struct survival_event *events,
				 size_t count)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (survival_is_valid(&events[i]))
			work->points[work->count++].age_ns = survival_age(&events[i]);
	if (!work->count)
		return;
	qsort(work->points, work->count, sizeof(*work->points), survival_compare_points);
	for (i = 1; i < work->count; i++)
		if (work->points[i].age_ns != work->points[kept].age_ns)
			work->points[++kept].age_ns = work->points[i].age_ns;
	work->count = kept + 1;
}

/* How many points are at `age_ns` or before. */
static size_t survival_find(const struct survival_point *points, size_t count, uint64_t age_ns)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (points[middle].age_ns <= age_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void survival_make_ranges(struct survival_work *work, const struct survival_event *events,
				 size_t count)
{
	struct survival_range *range;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!survival_is_valid(&events[i]))
			continue;
		range = &work->ranges[work->range_count++];
		range->blocks = events[i].count * events[i].weight;
		range->squares = range->blocks * events[i].weight;
		range->alive = events[i].until_ns == SURVIVAL_ALIVE;
		range->end = survival_find(work->points, work->count, survival_age(&events[i]));
		range->first = survival_find(work->points, work->count, events[i].after_ns);
		if (range->first == range->end)
			range->first--; /* freed right then */
		if (!range->alive)
			work->ends[range->end - 1] = true;
	}
}

/* At first, any age within a range is as likely as another. */
static void survival_begin(struct survival_work *work)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		work->mass[i] = work->ends[i] ? 1.0 / (double)work->count : 0;
}

/* The share of births that dies in a range. */
static double survival_mass(const double *before, const struct survival_range *range)
{
	return before[range->end] - before[range->first];
}

/* Divide deaths among points in proportion to their mass. `before`: sums of the mass before each point. */
static void survival_divide(struct survival_work *work, double *before, double *density)
{
	const struct survival_range *range;
	double sum = 0, mass;
	size_t i;

	for (i = 0; i < work->count; i++) {
		before[i + 1] = before[i] + work->mass[i];
		density[i] = 0;
		work->points[i].deaths = 0;
	}
	density[work->count] = 0;
	for (range = work->ranges; range < work->ranges + work->range_count; range++) {
		if (range->alive)
			continue;
		mass = survival_mass(before, range);
		if (mass > 0 && range->end - range->first > 1) {
			density[range->first] += range->blocks / mass;
			density[range->end] -= range->blocks / mass;
		} else {
			work->points[range->end - 1].deaths += range->blocks;
		}
	}
	for (i = 0; i < work->count; i++) {
		sum += density[i];
		work->points[i].deaths += fmax(sum * work->mass[i], 0);
	}
}

/* Count who is at risk: at each point those that die at it or later, or are seen alive at it. */
static void survival_count_risk(struct survival_work *work, double *alive)
{
	const struct survival_range *range;
	double sum = 0;
	size_t i;

	for (i = 0; i <= work->count; i++)
		alive[i] = 0;
	for (range = work->ranges; range < work->ranges + work->range_count; range++)
		if (range->alive)
			alive[range->end] += range->blocks;
	for (i = work->count; i-- > 0;) {
		sum += alive[i + 1] + work->points[i].deaths;
		work->points[i].at_risk = sum;
	}
}

/* The product-limit estimator. Returns by how much a mass has changed at most. */
static double survival_multiply(struct survival_work *work)
{
	double share = 1, changed = 0, mass;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct survival_point *point = &work->points[i];

		mass = point->at_risk > 0 ? share * fmin(point->deaths / point->at_risk, 1) : 0;
		changed = fmax(changed, fabs(mass - work->mass[i]));
		work->mass[i] = mass;
		share -= mass;
		/* What is left of a sum that should be nothing. */
		if (share < 1e-12)
			share = 0;
		point->share.value = share;
	}
	return changed;
}

static void survival_iterate(struct survival_work *work)
{
	double *before = work->sums, *density = work->sums + work->count + 1, changed;
	int round = 0;

	survival_begin(work);
	do {
		before[0] = 0;
		survival_divide(work, before, density);
		survival_count_risk(work, density);
		changed = survival_multiply(work);
	} while (changed > SURVIVAL_PRECISION && ++round < SURVIVAL_ROUNDS_MAX);
}

/* Blocks of equal weight that those at risk are worth: the square of the sum of weights by the sum of their squares. */
static void survival_count_effective(struct survival_work *work)
{
	double *before = work->sums, *squares = work->sums + work->count + 1;
	const struct survival_range *range;
	double sum = 0;
	size_t i;

	for (i = 0; i <= work->count; i++)
		squares[i] = 0;
	for (i = 0; i < work->count; i++)
		before[i + 1] = before[i] + work->mass[i];
	for (range = work->ranges; range < work->ranges + work->range_count; range++)
		squares[range->end] += range->squares;
	for (i = work->count; i-- > 0;) {
		struct survival_point *point = &work->points[i];

		sum += squares[i + 1];
		point->effective = sum > 0 ? point->at_risk * point->at_risk / sum : 0;
		/* Deaths in a range count in all of it here, and only in part in what is at risk: that is on the safe side. */
		point->effective = fmin(point->effective, point->at_risk);
	}
}

/* Add p (1 - p) for each death of a range that is at a point, or before it, with the probability p. */
static void survival_add_uncertain_range(const struct survival_range *range, const double *before,
					 double *uncertain)
{
	double mass = survival_mass(before, range), share;
	size_t i;

	for (i = range->first; i + 1 < range->end && mass > 0; i++) {
		share = (before[i + 1] - before[range->first]) / mass;
		uncertain[i] += range->squares * share * (1 - share);
	}
}

/* What is uncertain since deaths are known to be between two ages, and not where. */
static void survival_add_uncertain(struct survival_work *work)
{
	double *before = work->sums, *uncertain = work->sums + work->count + 1, moved;
	const struct survival_range *range;
	size_t i;

	for (i = 0; i < work->count; i++)
		uncertain[i] = 0;
	for (range = work->ranges; range < work->ranges + work->range_count; range++)
		if (!range->alive)
			survival_add_uncertain_range(range, before, uncertain);
	for (i = 0; i < work->count; i++) {
		struct survival_point *point = &work->points[i];

		if (!(point->at_risk > 0))
			continue;
		/* What one death more or less before the point changes. */
		moved = (point->share.value + work->mass[i]) / point->at_risk;
		point->variance += uncertain[i] * moved * moved;
	}
}

static void survival_add_greenwood(struct survival_work *work)
{
	double sum = 0, hazard;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct survival_point *point = &work->points[i];

		hazard = point->at_risk > 0 ? fmin(point->deaths / point->at_risk, 1) : 0;
		if (hazard < 1 && point->effective > 0)
			sum += hazard / (1 - hazard) / point->effective;
		point->variance = point->share.value * point->share.value * sum;
	}
}

/* Where nothing, or everything, has died, the number of blocks is what the other limit is known by. */
static void survival_set_limits(struct survival_point *point)
{
	struct estimate *share = &point->share;
	double width;

	share->low = 0;
	share->high = 1;
	if (share->value >= 1 - 1e-9) {
		share->low = interval_all(point->effective);
	} else if (share->value <= 0) {
		share->high = 1 - interval_all(point->effective);
	} else {
		width = INTERVAL_Z * sqrt(point->variance) /
			(share->value * fabs(log(share->value)));
		share->low = pow(share->value, exp(width));
		share->high = pow(share->value, exp(-width));
	}
}

static void survival_work_free(struct survival_work *work)
{
	free(work->ranges);
	free(work->ends);
	free(work->mass);
	free(work->sums);
}

void survival_estimate(struct survival *survival, const struct survival_event *events, size_t count)
{
	struct survival_work work = {
		.points = memory_alloc(count + 1, sizeof(*work.points)),
		.ranges = memory_alloc(count + 1, sizeof(*work.ranges)),
		.ends = memory_alloc(count + 1, sizeof(*work.ends)),
		.mass = memory_alloc(count + 1, sizeof(*work.mass)),
		.sums = memory_alloc(count + 1, 2 * sizeof(*work.sums)),
	};
	size_t i;

	survival_free(survival);
	survival_make_points(&work, events, count);
	survival_make_ranges(&work, events, count);
	survival_iterate(&work);
	survival_count_effective(&work);
	survival_add_greenwood(&work);
	survival_add_uncertain(&work);
	for (i = 0; i < work.count; i++)
		survival_set_limits(&work.points[i]);
	survival->points = work.points;
	survival->count = work.count;
	survival_work_free(&work);
}

void survival_free(struct survival *survival)
{
	free(survival->points);
	*survival = (struct survival){ 0 };
}

bool survival_at(const struct survival *survival, uint64_t age_ns, struct estimate *ret_share)
{
	size_t before = survival_find(survival->points, survival->count, age_ns);

	*ret_share = (struct estimate){ 1, 0, 1 };
	if (before)
		*ret_share = survival->points[before - 1].share;
	else if (survival->count)
		ret_share->low = interval_all(survival->points[0].effective);
	return before < survival->count ||
	       (before && survival->points[before - 1].age_ns == age_ns);
}

/* From the point `first` to `end`. Rates are by the logarithm of the age: a tail that loses as much in each doubling has one rate. */
static struct estimate survival_loss(const struct survival_tail *tail,
				     const struct survival_point *first,
				     const struct survival_point *end)
{
	double exposure = 0, effective = 0, from = log((double)tail->from_ns), until;
	const struct survival_point *point;
	struct estimate deaths;

	for (point = first; point <= end; point++, from = until) {
		until = log((double)point->age_ns);
		exposure += point->at_risk * (until - from);
		effective += point->effective * (until - from);
	}
	if (!(effective > 0))
		return (struct estimate){ 0, 0, 1 };
	deaths = interval_count(tail->deaths * effective / exposure);
	return (struct estimate){ 1 - pow(2, -deaths.value / effective),
				  1 - pow(2, -deaths.low / effective),
				  1 - pow(2, -deaths.high / effective) };
}

/* The last point that enough blocks have reached, or NULL. */
static const struct survival_point *survival_find_end(const struct survival *survival)
{
	size_t i = survival->count;

	while (i && survival->points[i - 1].effective < SURVIVAL_TAIL_BLOCKS)
		i--;
	/* An age without a half has no tail. */
	return i && survival->points[i - 1].age_ns >= 2 ? &survival->points[i - 1] : NULL;
}

struct survival_tail survival_judge_tail(const struct survival *survival)
{
	struct survival_tail tail = { .loss = { 0, 0, 1 }, .share = { 1, 0, 1 } };
	const struct survival_point *end = survival_find_end(survival), *first, *point;

	if (!end)
		return tail;
	tail.until_ns = end->age_ns;
	tail.from_ns = end->age_ns / 2;
	first = survival->points + survival_find(survival->points, survival->count, tail.from_ns);
	for (point = first; point <= end; point++)
		tail.deaths += point->deaths;
	tail.loss = survival_loss(&tail, first, end);
	tail.share = end->share;
	if (tail.loss.high <= SURVIVAL_FLAT_LOSS)
		tail.shape = SURVIVAL_FLAT;
	else if (tail.loss.low > SURVIVAL_FLAT_LOSS)
		tail.shape = SURVIVAL_FALLING;
	return tail;
}
