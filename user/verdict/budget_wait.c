/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_wait.h. Of each figure that is not good enough yet: by what factor the time would have to be longer; the greatest is right. */
#include "verdict/budget_wait.h"

#include <math.h>

/* Of so many old blocks none may be freed for a curve to be flat with confidence: a few may, of a few more. */
#define OLD_NEEDED 120
/* What is not known by then is not known. */
#define MOST_NS 86400000000000.0
/* It is looked at for a while longer in any case: this part of the time. */
#define LEAST_PART 0.25

/* The width of an interval falls with the root of the time: until it excludes 0. */
static double wait_factor_of_growth(const struct estimate *growth)
{
	double half = growth->value - growth->low;

	if (growth->low > 0)
		return 1;
	/* What came early gets out of the half of the time that is judged when there is twice as much. */
	if (!(growth->value > 0) || !isfinite(half))
		return 2;
	return half * half / (growth->value * growth->value);
}

/* Blocks become old at the rate at which they have so far. */
static double wait_factor_of_curve(const struct budget_estimate *estimate, uint64_t old)
{
	if (estimate->tail.shape == SURVIVAL_FLAT)
		return 1;
	return fmax((double)OLD_NEEDED / (double)(old ? old : 1), 2);
}

uint64_t budget_wait_of(const struct budget_estimate *estimate, uint64_t old, uint64_t time_ns)
{
	double factor, wait;

	if (estimate->lower_bound || !estimate->followed)
		return 0;
	factor = fmax(wait_factor_of_growth(&estimate->rate),
		      wait_factor_of_growth(&estimate->bytes));
	factor = fmax(factor, wait_factor_of_curve(estimate, old));
	wait = (double)time_ns * fmax(factor - 1, LEAST_PART);
	return wait <= MOST_NS ? (uint64_t)wait : 0;
}
