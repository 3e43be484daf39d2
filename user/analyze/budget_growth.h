/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the estimates that divides growth among sites. Pure. */
#ifndef ANALYZE_BUDGET_GROWTH_H
#define ANALYZE_BUDGET_GROWTH_H

#include "analyze/budget_estimate.h"

/* A site and what is estimated of it. */
struct budget_estimate_site {
	uint64_t key;
	const struct budget_site *site;
	bool falls; /* its curve does, */
	bool falling; /* or may */
	double retained; /* of its blocks, if they are freed on as they were of late */
	bool lower_bound;
	struct estimate rate, bytes, written;
	struct estimate since; /* filled in by budget_since.h */
};

/* The class of ages from which on blocks count as old. */
enum budget_ages budget_growth_old(const struct budget_report *report);

/*
 * Estimate rate and bytes of all sites, and the sums. The sites must be listed, with what is known of their curves. A heap's growth is
 * divided class by class of sizes (growth_rate.h): that of late by regression, and that since tracing began as the difference of
 * two censuses. Sites of processes whose heap is not counted have lower bounds.
 */
void budget_growth_divide(struct budget_estimates *estimates);

/* The heap of a process; NULL = there is none. Can its growth be counted? And its blocks of a class; NULL = it never had one. */
const struct budget_heap *budget_growth_heap(const struct budget_report *report,
					     uint32_t target_id);
bool budget_growth_is_counted(const struct budget_heap *heap);
const struct budget_size *budget_growth_size(const struct budget_heap *heap, uint32_t size_class);

/* The variance of what a census counts, by how far each is from between its neighbours: that of blocks that come and go. */
double budget_growth_noise(const struct budget_heap *heap, const struct budget_size *size);

/*
 * By how much the number of blocks varies from window to window, by its mean. Of blocks that are born independently of each other this is
 * 1. `squares`: of the numbers of all windows, added up.
 */
double budget_growth_dispersion(double seen, double squares, double windows);

#endif
