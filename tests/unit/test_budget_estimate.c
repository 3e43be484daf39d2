/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates of a program that is made up (budget_world.h). Truth: the formulas that it was made by. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/budget_estimate.h"
#include "verdict/budget_windows.h"
#include "verdict/verdict.h"
#include "unit/budget_world.h"
#include "unit/near.h"

static struct budget_estimate estimate_of(const struct budget_estimates *estimates, uint64_t key)
{
	const struct snapshot_site site = { .key = key };

	return budget_estimate_of(estimates, &site);
}

static void check_holds(const struct estimate *estimate, double truth)
{
	if (!(estimate->low <= truth && truth <= estimate->high))
		fail_msg("%.0f is not in %.0f to %.0f", truth, estimate->low, estimate->high);
}

/*
 * A leak of 8,200 blocks of 720 bytes a second, of which a window that is 13 times slower sees 12, and a cache of the same size that is
 * full: the bigger part of what windows record.
 */
static struct budget_report *make_python(void)
{
	struct budget_report *report = world_new(13);
	struct budget_heap *heap = world_add_heap(report);

	world_add_size(heap, 64, 0, 640);
	world_add_size(heap, 720, 8200 * 720, 20000);
	world_add(report, &(struct world_blocks){ 7, 720, 12.6, 1, 1, 0, 0 });
	world_add(report, &(struct world_blocks){ 3, 720, 110, 0, 6, 0.3, 0 });
	return report;
}

static void test_rates(void **state)
{
	struct budget_report *report = make_python();
	struct budget_estimates *estimates = budget_estimates_new(report);
	struct budget_estimate leak = estimate_of(estimates, 7), cache = estimate_of(estimates, 3);

	(void)state;
	assert_true(leak.known && !leak.lower_bound);
	/* By windows alone it would be a thirteenth. */
	check_near(leak.rate.value, 8200 * 720, 0.1 * 8200 * 720);
	check_holds(&leak.rate, 8200 * 720);
	check_holds(&leak.bytes, 8200.0 * 720 * WORLD_SECONDS);
	check_near(leak.bytes.value, 8200.0 * 720 * WORLD_SECONDS,
		   0.1 * 8200 * 720 * WORLD_SECONDS);
	assert_int_equal(leak.tail.shape, SURVIVAL_FLAT);
	check_near(leak.tail.share.value, 1, 0);
	assert_int_equal(leak.followed, 403);
	check_near((double)leak.unchanged, 403, 2);
	check_near((double)leak.mean_age_ns / 1e9, 32, 0.5);
	assert_int_equal(cache.tail.shape, SURVIVAL_FALLING);
	assert_true(cache.rate.value < 0.1 * leak.rate.value);
	check_near(cache.rate.low, 0, 0);
	assert_true(estimates->counted);
	check_near(estimates->growth.value, 8200 * 720, 0.02 * 8200 * 720);
	assert_false(estimate_of(estimates, 8).known);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Blocks that stay are a leak where others are freed. Else they may be a cache that is not full, whose curve is the same. */
static void test_others(void **state)
{
	struct budget_report *report = make_python();
	struct budget_estimates *estimates = budget_estimates_new(report);
	struct budget_estimate of = estimate_of(estimates, 7);
	struct budget_site *site = &report->sites[0];
	struct verdict verdict = verdict_of_estimate(&of);

	(void)state;
	assert_int_equal(site->key, 7);
	assert_int_equal(of.verdict, BUDGET_LEAK);
	assert_true(verdict.word == VERDICT_LEAK && verdict.never_freed_known && !verdict.kept);
	/* One in twenty of them. */
	site->freed_blocks = site->allocated_blocks / 20 - 1;
	of = estimate_of(estimates, 7);
	verdict = verdict_of_estimate(&of);
	assert_int_equal(of.verdict, BUDGET_GROWING);
	assert_true(verdict.word == VERDICT_GROWING && !verdict.kept);
	/* That a block is lost sight of, or left out where there are too many, is no free. */
	site->freed_blocks = 0;
	site->cohorts[0].ages[0].lost.seen = site->cohorts[0].ages[0].lost.blocks = 1;
	of = estimate_of(estimates, 7);
	verdict = verdict_of_estimate(&of);
	assert_int_equal(of.verdict, BUDGET_GROWING);
	assert_int_equal(of.tail.shape, SURVIVAL_FLAT);
	assert_true(verdict.word == VERDICT_GROWING && !verdict.never_freed_known && verdict.kept);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* The curve of the cache is that of its lifetime, where blocks that were written to are not taken for dead. */
static void test_survival(void **state)
{
	static const int ages[] = { 2, 4, 8, 16 };
	struct budget_report *report = world_new(1);
	struct budget_estimates *estimates;
	const struct snapshot_site site = { .key = 3 };
	struct survival survival = { 0 };
	struct estimate share;
	size_t i;

	(void)state;
	world_add(report, &(struct world_blocks){ 3, 64, 200, 0.2, 6, 0, 4 });
	estimates = budget_estimates_new(report);
	budget_estimate_survival(estimates, &site, &survival);
	for (i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		assert_true(survival_at(&survival, (uint64_t)ages[i] * WORLD_SECOND, &share));
		check_near(share.value, 0.2 + 0.8 * exp(-ages[i] / 6.0), 0.02);
	}
	survival_free(&survival);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/*
 * Of the blocks of a leaking site, most are freed between two windows, and others are in their place: they were not in use all the time.
 * Nor is it known: the upper limit is where they are.
 */
static void test_survival_written(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_estimates *estimates;
	struct budget_estimate site;

	(void)state;
	world_add(report, &(struct world_blocks){ 3, 64, 40, 1, 1, 0.9, 0 });
	estimates = budget_estimates_new(report);
	site = estimate_of(estimates, 3);
	check_near(site.tail.share.value, 0.1, 0.02);
	assert_true(site.tail.share.low > 0.05 && site.tail.share.high > 0.99);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Rows add up; so do the sizes of a site. */
static void test_rows(void **state)
{
	struct budget_report *report = make_python();
	struct snapshot_site members[] = { { .key = 7 }, { .key = 3 }, { .key = 99 } };
	const struct snapshot_site row = { .members = members, .member_count = 3 };
	struct budget_estimates *estimates = budget_estimates_new(report);
	struct budget_estimate sum = budget_estimate_of(estimates, &row);

	(void)state;
	check_holds(&sum.rate, 8200 * 720);
	assert_int_equal(sum.followed,
			 estimate_of(estimates, 7).followed + estimate_of(estimates, 3).followed);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* All blocks of a leak are written to: it is an entry of its own, and no other site has its growth. */
static void test_written(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;
	struct budget_estimate other, leak;

	(void)state;
	/* 20 ms see 80 and 20 blocks of 4,000 and 1,000 a second. */
	world_add_size(heap, 64, 5000 * 64, 1000);
	world_add(report, &(struct world_blocks){ 1, 64, 80, 1, 1, 1, 0 });
	world_add(report, &(struct world_blocks){ 2, 64, 20, 1, 1, 0, 0 });
	estimates = budget_estimates_new(report);
	other = estimate_of(estimates, 2);
	check_holds(&other.rate, 1000 * 64);
	check_near(other.rate.value, 1000 * 64, 0.1 * 1000 * 64);
	check_holds(&estimates->written, 4000 * 64);
	check_near(estimate_of(estimates, 1).rate.value, 0, 0);
	/* It is named all the same, as no other is. */
	leak = estimate_of(estimates, 1);
	check_near(leak.written_rate.value, 4000 * 64, 0.1 * 4000 * 64);
	check_holds(&leak.rate, 4000 * 64);
	check_near(other.written_rate.value, 0, 0);
	assert_true(budget_estimate_is_written(estimates, &(struct snapshot_site){ .key = 1 }));
	assert_false(budget_estimate_is_written(estimates, &(struct snapshot_site){ .key = 2 }));
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/*
 * What windows have is all of traps, so that nothing is known of the target's own speed in them; and a cache of the size of the greater leak is
 * turned over between windows: half of the old blocks of that size are in the place of its own. The lesser leak, of another size,
 * shows how much windows see.
 */
static void test_cache_of_same_size(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;
	struct budget_estimate leak, less, cache;

	(void)state;
	report->cost_ns = report->cpu_ns;
	world_add_size(heap, 64, 4000 * 64, 640);
	world_add_size(heap, 208, 1000 * 208, 640);
	world_add(report, &(struct world_blocks){ 1, 64, 20, 1, 1, 0, 0 });
	world_add(report, &(struct world_blocks){ 2, 208, 5, 1, 1, 0, 0 });
	world_add(report, &(struct world_blocks){ 3, 64, 20, 1, 1, 0.99, 0 });
	estimates = budget_estimates_new(report);
	leak = estimate_of(estimates, 1);
	less = estimate_of(estimates, 2);
	cache = estimate_of(estimates, 3);
	check_near(leak.rate.value, 4000 * 64, 0.1 * 4000 * 64);
	check_near(less.rate.value, 1000 * 208, 0.1 * 1000 * 208);
	assert_true(cache.rate.value < 0.02 * 4000 * 64);
	check_holds(&leak.rate, 4000 * 64);
	check_holds(&less.rate, 1000 * 208);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

#define RUNS 200
#define LEAKS 3

/* A number of blocks as chance has it of independent births, `mean` on average. */
static double draw_count(uint64_t *random, double mean)
{
	double count = 0, time = 0;

	for (;;) {
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		time -= log(((double)(*random >> 11) + 0.5) / 9007199254740992.0);
		if (time > mean)
			return count;
		count++;
	}
}

/*
 * Three leaks of one size in a target that windows slow down thirteen times; how many of their blocks a window has is left to chance. On
 * average over many runs rates are those by which the heap was made, and 95 of 100 intervals have the truth in them.
 */
static void test_unbiased(void **state)
{
	static const double per_s[LEAKS] = { 6000, 1500, 500 };
	double mean[LEAKS] = { 0 };
	int held[LEAKS] = { 0 }, run, i;
	uint64_t random = 20261123;

	(void)state;
	for (run = 0; run < RUNS; run++) {
		struct budget_report *report = world_new(13);
		struct budget_heap *heap = world_add_heap(report);
		struct budget_estimates *estimates;

		world_add_size(heap, 64, 8000 * 64, 640);
		for (i = 0; i < LEAKS; i++) {
			double seen = draw_count(&random, per_s[i] * 0.02 / 13 * WORLD_WINDOWS);
			uint64_t key = (uint64_t)i + 1;

			world_add(report, &(struct world_blocks){ key, 64, seen / WORLD_WINDOWS, 1,
								  1, 0, 0 });
		}
		estimates = budget_estimates_new(report);
		for (i = 0; i < LEAKS; i++) {
			struct budget_estimate of = estimate_of(estimates, (uint64_t)i + 1);

			mean[i] += of.rate.value / (per_s[i] * 64) / RUNS;
			held[i] += of.rate.low <= per_s[i] * 64 && per_s[i] * 64 <= of.rate.high;
		}
		budget_estimates_free(estimates);
		budget_report_free(report);
	}
	for (i = 0; i < LEAKS; i++) {
		check_near(mean[i], 1, 0.05);
		assert_true(held[i] >= RUNS * 95 / 100);
	}
}

/*
 * A target that mostly waits, and short windows that traps fill: what these must have seen is not known, so the interval is wide, and
 * has the truth in it. Nor does a leak fall whose blocks are few, and others in the place of most.
 */
static void test_few(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;
	struct budget_estimate leak;

	(void)state;
	report->traced_ns = 56000000;
	report->cpu_ns = 8 * WORLD_SECOND;
	report->cost_ns = 6000000;
	world_set_windows(report, 9, 9);
	world_add_size(heap, 112, 1400000, 100000);
	world_add(report, &(struct world_blocks){ 1, 112, 0.5, 0.9, 1, 0.6, 0 });
	estimates = budget_estimates_new(report);
	leak = estimate_of(estimates, 1);
	check_holds(&leak.rate, 1400000);
	check_holds(&leak.bytes, 1400000.0 * WORLD_SECONDS);
	assert_int_not_equal(leak.tail.shape, SURVIVAL_FALLING);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Of many windows the last ones have rows: which were before old blocks were born is known of all. */
static void test_many_windows(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;
	struct budget_estimate site;

	(void)state;
	world_set_windows(report, 500, 64);
	/* A fifth of the growth is the site's, by what windows have seen. */
	world_add_size(heap, 64, 5000 * 64, 1000);
	world_add(report, &(struct world_blocks){ 2, 64, 20, 1, 1, 0, 0 });
	estimates = budget_estimates_new(report);
	site = estimate_of(estimates, 2);
	check_near(site.rate.value, 1000 * 64, 0.1 * 1000 * 64);
	check_holds(&site.rate, 1000 * 64);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Half of the hits came while probes went in and out: their cost is none of the windows'. */
static void test_edges(void **state)
{
	struct budget_report *report = world_new(2);
	struct estimate own;

	(void)state;
	own = budget_windows_own(report);
	check_near(own.value, 0.5, 1e-6);
	check_near(own.low, 1 - 1.25 * 0.5, 1e-6);
	report->edge_hits = report->hits / 2;
	own = budget_windows_own(report);
	check_near(own.value, 0.75, 1e-6);
	check_near(own.low, 1 - 1.25 * 0.25, 1e-6);
	report->busiest_ns = report->cost_ns;
	own = budget_windows_own(report);
	check_near(own.low, 1 - 1.25 * 0.25, 1e-6);
	budget_report_free(report);
}

/* One of 8 busy threads leaks, and is 20 times slower in windows; the others call nothing, and are as fast as ever. */
static void test_threads(void **state)
{
	struct budget_report *report = world_new(20);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;
	struct budget_estimate leak;

	(void)state;
	report->cpu_ns *= 8;
	report->busiest_ns = report->cost_ns;
	world_add_size(heap, 64, 4000 * 64, 1000);
	world_add(report, &(struct world_blocks){ 2, 64, 4, 1, 1, 0, 0 });
	estimates = budget_estimates_new(report);
	leak = estimate_of(estimates, 2);
	check_holds(&leak.rate, 4000 * 64);
	check_near(leak.rate.value, 4000 * 64, 0.1 * 4000 * 64);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* The first and the last census are not at the ends of the time; what is grown is of all of it. */
static void test_uncounted_time(void **state)
{
	struct budget_report *report = make_python();
	struct budget_estimates *estimates;
	struct budget_estimate leak;

	(void)state;
	report->heaps[0].census_count = 12; /* 44 of 64 s */
	estimates = budget_estimates_new(report);
	leak = estimate_of(estimates, 7);
	check_near(leak.bytes.value, 8200.0 * 720 * 64, 0.1 * 8200 * 720 * 64);
	check_holds(&leak.bytes, 8200.0 * 720 * 64);
	assert_true(leak.bytes.low < 8200.0 * 720 * 44);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Classes that grow and that no window has seen a block of; noise of others is none of that. */
static void test_unseen(void **state)
{
	struct budget_report *report = world_new(1);
	struct budget_heap *heap = world_add_heap(report);
	struct budget_estimates *estimates;

	(void)state;
	world_add_size(heap, 48, 0, 5000);
	world_add_size(heap, 4096, 92000, 1000);
	estimates = budget_estimates_new(report);
	check_holds(&estimates->unknown, 92000);
	check_near(estimates->unknown.value, 92000, 2000);
	check_near(estimates->written.value, 0, 0);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* No census: what windows have seen, at least. */
static void test_lower_bound(void **state)
{
	struct budget_report *report = world_new(13);
	struct budget_estimates *estimates;
	struct budget_estimate leak;

	(void)state;
	world_add(report, &(struct world_blocks){ 7, 720, 12.6, 1, 1, 0, 0 });
	estimates = budget_estimates_new(report);
	leak = estimate_of(estimates, 7);
	assert_true(leak.lower_bound);
	assert_true(isinf(leak.rate.high));
	assert_true(leak.rate.low > 0 && leak.rate.low < 8200 * 720);
	check_near(leak.rate.value, 12.6 / 0.02 * 720, 0.05 * 12.6 / 0.02 * 720);
	assert_false(estimates->counted);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Estimates in the place of counts are marked, and in the same proportions. */
static void test_apply(void **state)
{
	struct budget_report *report = make_python();
	struct budget_estimates *estimates = budget_estimates_new(report);
	struct snapshot_site sites[] = { { .key = 7, .stats = { 5, 5, 1, 1 } },
					 { .key = 99, .stats = { 5, 5, 1, 1 } } };
	struct snapshot snapshot = { .sites = sites, .site_count = 2 };
	struct budget_estimate leak = estimate_of(estimates, 7);

	(void)state;
	budget_estimates_apply(estimates, &snapshot);
	assert_true(sites[0].sampled && sites[1].sampled);
	check_near((double)site_stats_inuse_bytes(&sites[0].stats), leak.bytes.value, 2);
	check_near((double)site_stats_inuse_objects(&sites[0].stats), leak.bytes.value / 720, 2);
	check_near((double)sites[0].stats.alloc_bytes, 1.5 * leak.bytes.value,
		   0.01 * leak.bytes.value);
	assert_int_equal(sites[0].stats.samples, leak.unchanged);
	assert_int_equal(sites[0].stats.oldest_ns, 32 * WORLD_SECOND);
	assert_int_equal(sites[1].stats.alloc_bytes, 0);
	budget_estimates_free(estimates);
	budget_report_free(report);
}

/* Figures that nobody would make: of a damaged recording, or of the first moment. */
static void test_senseless(void **state)
{
	struct budget_report *report = make_python();
	struct budget_estimates *estimates;
	struct budget_estimate estimate;

	(void)state;
	assert_null(budget_estimates_new(NULL));
	report->time_ns = report->start_ns;
	report->sites[0].cohorts[0].ages[2].unchanged =
		(struct budget_blocks){ 1, UINT64_MAX, UINT64_MAX };
	report->sites[0].cohorts[0].ages[3].freed = (struct budget_blocks){ UINT64_MAX, 1, 0 };
	report->sites[0].cohorts[0].ages[4].age_ns_sum = UINT64_MAX;
	report->heaps[0].census_count = 2;
	estimates = budget_estimates_new(report);
	estimate = estimate_of(estimates, 7);
	assert_true(estimate.rate.low <= estimate.rate.value);
	budget_estimates_free(estimates);
	report->heaps[0].census_count = 1;
	report->cpu_ns = report->traced_ns = 0;
	budget_estimates_free(budget_estimates_new(report));
	budget_report_free(report);
}

static void test_cost(void **state)
{
	const struct budget_report report = { .cpu_ns = 1000000, .cost_ns = 8000 };
	const struct budget_report none = { 0 };

	(void)state;
	assert_int_equal(budget_cost_share(&report), 800);
	assert_int_equal(budget_cost_share(&none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_survival),
		cmocka_unit_test(test_survival_written),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_cache_of_same_size),
		cmocka_unit_test(test_unbiased),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many_windows),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_uncounted_time),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_lower_bound),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_senseless),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
