/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The classes of ages of a cohort as events of a survival curve. Pure. */
#ifndef ANALYZE_BUDGET_LIFE_H
#define ANALYZE_BUDGET_LIFE_H

#include "analyze/survival.h"
#include "model/budget_report.h"

/* The sum of cohorts, class by class. {0} is of none. */
struct budget_life {
	struct budget_age ages[BUDGET_AGES];
};

void budget_life_add(struct budget_life *life, const struct budget_site *site);

/*
 * The curve of its blocks; none of them is older than `most_ns`. A block that is in a class now has lived through a part of it: so much of
 * it counts as alive at the end of the class, and the rest as not looked at (the actuarial method). A written block was freed at any age
 * before, and another one is in its place: then the share is what it is. Or it is in use and written to: that is where the upper limit is.
 * Returns how the curve ends; it falls only if it does either way. Free with survival_free.
 */
struct survival_tail budget_life_estimate(const struct budget_life *life, uint64_t most_ns,
					  struct survival *ret_survival);

#endif
