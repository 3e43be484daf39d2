/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_estimate.h. Growth is in budget_growth.c, survival in budget_life.c; here is what makes sites and rows of them. */
#include "verdict/budget_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "verdict/budget_growth.h"
#include "verdict/budget_wait.h"
#include "verdict/budget_windows.h"
#include "verdict/interval.h"
#include "verdict/verdict_leak.h"
#include "base/compare.h"
#include "base/memory.h"

#define AGE_UNIT 65536.0 /* of age_ns_sum */
#define AGES_MOST 1e38 /* a sum of ages: more is no number of 128 bits */
/* What is steady grows by no more than this part of what it has gained in half of the time, as of exact figures. */
#define STEADY_MOST 0.25
/* Heaps grow if they grow by this part in half of the time. */
#define RISE_MIN 0.02

static int estimate_compare_sites(const void *a, const void *b)
{
	const struct budget_estimate_site *left = a, *right = b;

	return compare_numbers(left->key, right->key);
}

static struct survival_tail estimate_tail(const struct budget_life *life,
					  const struct budget_report *report,
					  struct survival *survival)
{
	return budget_life_estimate(life, budget_windows_duration(report), survival);
}

static void estimate_add_site(struct budget_estimates *estimates, const struct budget_site *site)
{
	struct budget_estimate_site *to = &estimates->sites[estimates->site_count++];
	struct survival survival = { 0 };
	struct budget_life life = { 0 };
	struct survival_tail tail;

	*to = (struct budget_estimate_site){ .key = site->key, .site = site };
	budget_life_add(&life, site);
	tail = estimate_tail(&life, estimates->report, &survival);
	/* What became of young blocks is no matter: those that may be growth are old. */
	to->falling = tail.shape != SURVIVAL_FLAT && tail.loss.value > SURVIVAL_FLAT_LOSS &&
		      tail.until_ns >= estimates->old_ns;
	to->falls = to->falling && tail.shape == SURVIVAL_FALLING;
	to->retained = to->falling ? 1 - tail.loss.value : 1;
	survival_free(&survival);
}

struct budget_estimates *budget_estimates_new(const struct budget_report *report)
{
	struct budget_estimates *estimates;
	size_t i;

	if (!report)
		return NULL;
	estimates = memory_alloc(1, sizeof(*estimates));
	estimates->report = report;
	estimates->old_ns = budget_age_least_ns(budget_growth_old(report));
	estimates->sites = memory_alloc(report->site_count + 1, sizeof(*estimates->sites));
	for (i = 0; i < report->site_count; i++)
		estimate_add_site(estimates, &report->sites[i]);
	qsort(estimates->sites, estimates->site_count, sizeof(*estimates->sites),
	      estimate_compare_sites);
	budget_growth_divide(estimates);
	return estimates;
}

void budget_estimates_free(struct budget_estimates *estimates)
{
	if (!estimates)
		return;
	free(estimates->sites);
	free(estimates);
}

bool budget_estimates_are_level(const struct budget_estimates *estimates)
{
	const struct budget_report *report = estimates->report;
	const double half_s = (double)budget_windows_duration(report) / 2e9;
	double live = 0;
	size_t i;

	if (!estimates->counted || !report->heap_count)
		return false;
	for (i = 0; i < report->heap_count; i++) {
		const struct budget_heap *heap = &report->heaps[i];

		if (!heap->allocator || !heap->census_count)
			return false;
		live += (double)heap->censuses[heap->census_count - 1].live_bytes;
	}
	return estimates->growth.high * half_s <= RISE_MIN * live;
}

/* Rows */

static const struct budget_estimate_site *estimate_find(const struct budget_estimates *estimates,
							uint64_t key)
{
	const struct budget_estimate_site wanted = { .key = key };

	return bsearch(&wanted, estimates->sites, estimates->site_count, sizeof(wanted),
		       estimate_compare_sites);
}

/* Sums over the sites of a row. */
struct estimate_row {
	struct budget_estimate estimate;
	struct budget_life life;
};

static void estimate_row_add(struct estimate_row *row, const struct budget_estimate_site *site)
{
	struct budget_estimate *sum = &row->estimate;

	sum->known = true;
	sum->lower_bound |= site->lower_bound;
	sum->rate = interval_add(sum->rate, site->rate);
	sum->bytes = interval_add(sum->bytes, site->bytes);
	sum->since = interval_add(sum->since, site->since);
	sum->written_rate = interval_add(sum->written_rate, site->written);
	sum->allocated += site->site->allocated_blocks;
	sum->ended += site->site->freed_blocks;
	budget_life_add(&row->life, site->site);
}

static void estimate_row_fill(const struct budget_estimates *estimates,
			      const struct snapshot_site *of, struct estimate_row *row)
{
	const struct snapshot_site *sites = of->member_count ? of->members : of;
	size_t count = of->member_count ? of->member_count : 1, i;
	const struct budget_estimate_site *site;

	for (i = 0; i < count; i++) {
		site = estimate_find(estimates, sites[i].key);
		if (site)
			estimate_row_add(row, site);
	}
}

static void estimate_row_count(struct estimate_row *row)
{
	struct budget_estimate *sum = &row->estimate;
	double ages = 0, blocks = 0;
	int i;

	sum->followed = row->life.ages[0].reached.seen;
	for (i = 0; i < BUDGET_AGES; i++) {
		const struct budget_age *age = &row->life.ages[i];

		sum->unchanged += age->unchanged.seen;
		sum->written += age->written.seen;
		sum->freed += age->freed.seen;
		sum->ended += age->freed.blocks;
		sum->lost += age->lost.seen;
		ages += (double)age->age_ns_sum * AGE_UNIT;
		blocks += (double)age->unchanged.blocks;
	}
	if (blocks > 0)
		sum->mean_age_ns = (uint64_t)(ages / blocks);
}

/* Of a site that frees hardly a block nobody can know: a cache that is not full has the same curve as a leak. */
static bool estimate_has_others(const struct budget_estimate *estimate)
{
	return estimate->ended >= VERDICT_OTHERS_MIN &&
	       (double)estimate->ended >= VERDICT_OTHERS_PART * (double)estimate->allocated;
}

/*
 * What part of the heaps' growth a row has, where they certainly grow: at least that if it may be why they do, so that it is no cache; and more than
 * that if it is, so that its word is GROWING.
 */
#define ESTIMATE_MAY_GROW_PART 0.1
#define ESTIMATE_GROWS_PART 0.5

/*
 * Does the row grow, or have `part` of what all heaps grow by? That others of its blocks are freed, some of them late, shows nothing of those that
 * stay then: their share is seen when the curve is flat.
 */
static bool estimate_grows(const struct budget_estimates *estimates,
			   const struct budget_estimate *estimate, double part)
{
	if (estimate->rate.low > 0)
		return true;
	return estimates->counted && estimates->growth.low > 0 &&
	       estimate->rate.value >= part * estimates->growth.value;
}

/* A curve that falls at ages of young blocks shows nothing of old ones, if there are any. */
static enum budget_verdict estimate_judge(const struct budget_estimates *estimates,
					  const struct budget_estimate *estimate)
{
	if (estimate->tail.shape == SURVIVAL_FALLING &&
	    (estimate->tail.until_ns >= estimates->old_ns || !(estimate->bytes.value > 0)))
		return estimate_grows(estimates, estimate, ESTIMATE_MAY_GROW_PART) ? BUDGET_UNKNOWN
										   : BUDGET_CACHE;
	/* Blocks that live for hours look as if they stayed for good. Where they are replaced, nothing grows. */
	if (estimate->tail.shape == SURVIVAL_FLAT && !estimate->lower_bound &&
	    isfinite(estimate->rate.high) && estimate->rate.low > 0 && estimate->bytes.low > 0)
		return estimate_has_others(estimate) ? BUDGET_LEAK : BUDGET_GROWING;
	return BUDGET_UNKNOWN;
}

static bool estimate_is_steady(const struct budget_estimate *estimate, uint64_t time_ns)
{
	return !estimate->lower_bound && estimate->bytes.value > 0 &&
	       estimate->rate.high * (double)time_ns / 2e9 <= STEADY_MOST * estimate->bytes.value;
}

static void estimate_judge_unknown(struct estimate_row *row,
				   const struct budget_estimates *estimates)
{
	const uint64_t time_ns = budget_windows_duration(estimates->report);
	const uint64_t old = row->life.ages[budget_growth_old(estimates->report)].reached.seen;

	row->estimate.steady = estimate_is_steady(&row->estimate, time_ns);
	row->estimate.grows = !row->estimate.lower_bound && row->estimate.bytes.value > 0 &&
			      estimate_grows(estimates, &row->estimate, ESTIMATE_GROWS_PART);
	row->estimate.wait_ns = budget_wait_of(&row->estimate, old, time_ns);
}

struct budget_estimate budget_estimate_of(const struct budget_estimates *estimates,
					  const struct snapshot_site *row)
{
	struct survival survival = { 0 };
	struct estimate_row sum = { 0 };

	estimate_row_fill(estimates, row, &sum);
	if (!sum.estimate.known)
		return sum.estimate;
	estimate_row_count(&sum);
	sum.estimate.tail = estimate_tail(&sum.life, estimates->report, &survival);
	sum.estimate.verdict = estimate_judge(estimates, &sum.estimate);
	if (sum.estimate.verdict == BUDGET_UNKNOWN)
		estimate_judge_unknown(&sum, estimates);
	sum.estimate.since_known = estimates->since_known && isfinite(sum.estimate.since.low) &&
				   isfinite(sum.estimate.since.high);
	survival_free(&survival);
	return sum.estimate;
}

void budget_estimate_add_gained(const struct budget_estimates *estimates, uint64_t key,
				struct estimate *sum)
{
	const struct budget_estimate_site *site = estimate_find(estimates, key);

	if (!site)
		return;
	sum->value += site->bytes.value;
	sum->low += site->bytes.low;
	sum->high += site->bytes.high;
}

bool budget_estimate_stays(const struct budget_estimate *estimate)
{
	return estimate->tail.shape == SURVIVAL_FLAT && estimate->verdict != BUDGET_GROWING;
}

bool budget_estimate_is_written(const struct budget_estimates *estimates,
				const struct snapshot_site *row)
{
	struct estimate_row sum = { 0 };

	estimate_row_fill(estimates, row, &sum);
	return sum.estimate.written_rate.value >= 1;
}

void budget_estimate_survival(const struct budget_estimates *estimates,
			      const struct snapshot_site *row, struct survival *ret_survival)
{
	struct estimate_row sum = { 0 };

	estimate_row_fill(estimates, row, &sum);
	estimate_tail(&sum.life, estimates->report, ret_survival);
}

void budget_estimate_life(const struct budget_estimates *estimates, const struct snapshot_site *row,
			  struct budget_life *ret_life)
{
	struct estimate_row sum = { 0 };

	estimate_row_fill(estimates, row, &sum);
	*ret_life = sum.life;
}

/* Figures */

static uint64_t estimate_number(double number)
{
	return number > 0 ? number < 1e18 ? (uint64_t)(number + 0.5) : (uint64_t)1e18 : 0;
}

/* In the proportions of the windows: of what was recorded, so much is still in use. */
static void estimate_set_stats(const struct budget_estimate_site *site, struct site_stats *stats)
{
	struct budget_life life = { 0 };
	double bytes = 0, blocks = 0, scale;
	uint64_t oldest = 0;
	int i;

	*stats = (struct site_stats){ .gcs_known = stats->gcs_known };
	budget_life_add(&life, site->site);
	for (i = 0; i < BUDGET_AGES; i++) {
		bytes += (double)life.ages[i].unchanged.bytes;
		blocks += (double)life.ages[i].unchanged.blocks;
		stats->samples += life.ages[i].unchanged.seen;
		stats->age_sum_ns += (unsigned __int128)life.ages[i].age_ns_sum * 65536;
		if (life.ages[i].unchanged.seen)
			oldest = budget_age_least_ns((enum budget_ages)i);
	}
	if (!(bytes > 0) || !(site->bytes.value > 0))
		return;
	scale = site->bytes.value / bytes;
	stats->oldest_ns = oldest;
	stats->alloc_bytes = estimate_number(
		fmax((double)site->site->allocated_bytes * scale, site->bytes.value));
	stats->alloc_objects =
		estimate_number(fmax((double)site->site->allocated_blocks, blocks) * scale);
	stats->free_bytes = stats->alloc_bytes - estimate_number(site->bytes.value);
	stats->free_objects = stats->alloc_objects - estimate_number(blocks * scale);
	stats->age_sum_ns = (unsigned __int128)fmin((double)stats->age_sum_ns * scale, AGES_MOST);
}

void budget_estimates_apply(const struct budget_estimates *estimates, struct snapshot *snapshot)
{
	const struct budget_estimate_site *found;
	struct snapshot_site *site;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		site = &snapshot->sites[i];
		found = estimate_find(estimates, site->key);
		site->sampled = true;
		if (found)
			estimate_set_stats(found, &site->stats);
		else
			site->stats = (struct site_stats){ 0 };
	}
}

uint64_t budget_cost_share(const struct budget_report *report)
{
	if (!report->cpu_ns)
		return 0;
	return (uint64_t)((unsigned __int128)report->cost_ns * 100000 / report->cpu_ns);
}
