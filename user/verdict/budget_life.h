/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the age classes of a cohort into a survival curve. Pure. */
#ifndef VERDICT_BUDGET_LIFE_H
#define VERDICT_BUDGET_LIFE_H

#include "verdict/survival.h"
#include "model/budget_report.h"

/* A sum of cohorts by age class. {0} is empty. */
struct budget_life {
	struct budget_age ages[BUDGET_AGES];
};

void budget_life_add(struct budget_life *life, const struct budget_site *site);

/*
 * Estimate the survival curve of its blocks, none of which is older than `most_ns`. A block that is
 * in an age class now has lived through part of it: that fraction counts as alive at the end of the
 * class, the rest as censored (the actuarial method). A written block was either freed at some
 * earlier age and replaced, which gives the share, or is in use and was written to, which gives its
 * upper limit. Returns how the curve ends; it falls only if it does under both assumptions. Free
 * with survival_free.
 */
struct survival_tail budget_life_estimate(const struct budget_life *life, uint64_t most_ns,
					  struct survival *ret_survival);

#endif
