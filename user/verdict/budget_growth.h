/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the growth of heaps among sites. Pure. */
#ifndef VERDICT_BUDGET_GROWTH_H
#define VERDICT_BUDGET_GROWTH_H

#include "verdict/budget_estimate.h"

/* A site and its estimates. */
struct budget_estimate_site {
	uint64_t key;
	const struct budget_site *site;
	bool falls; /* its survival curve certainly falls */
	bool falling; /* it certainly or possibly falls */
	double retained; /* share of its blocks that will stay, if freeing continues as recently */
	bool lower_bound;
	struct estimate rate, bytes, written;
	struct estimate since; /* filled in by budget_since.h */
};

/* The first age class whose blocks count as old. */
enum budget_ages budget_growth_old(const struct budget_report *report);

/*
 * Estimate rate and bytes of all sites, and the sums. The sites and their survival curves must be
 * filled in. A heap's growth is divided by size class (growth_rate.h): recent growth by regression,
 * growth since tracing began as the difference of two censuses. Sites of processes without a census
 * get lower bounds.
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
