/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the intervals of simulated traces (budget_sim.h) hold the truth, how far estimates are off, and who is named first. Seeds are
 * fixed, so a run is as any other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "verdict/budget_estimate.h"
#include "unit/budget_sim.h"

#define RUNS 150

/* Of 150 intervals of 95 %, fewer hold the truth in 2.5 of 100 cases: 142.5 less 1.96 times the root of 150 * 0.95 * 0.05. */
#define HELD_MIN 138

/* What a target's figures must come to, on average; shares of the truth. They were that, and a little better, when this was written. */
struct expected {
	double error; /* of each leak's rate, at most; of those that hold more than one tenth of the growth */
	double least; /* the lower limit of the first site's rate, at least */
	int first; /* in so many runs the first site has the highest rate, at least */
};

struct outcome {
	int known, sums, rates, bytes, first, leaks, caches, growing, steady, grows;
	double value, low;
};

static double truth_of(const struct sim_site *site)
{
	return site->leaks_per_s * (double)site->size;
}

static bool holds(const struct estimate *estimate, double truth)
{
	/* Sums of counts are exact but for rounding. */
	return estimate->low <= truth + 1 && truth - 1 <= estimate->high;
}

static void add_run(const struct sim_target *target, const struct budget_estimates *estimates,
		    const double *leaked, struct outcome *outcomes)
{
	struct estimate gained = { 0 };
	double most = 0, all = 0;
	size_t i, first = 0;

	for (i = 0; i < target->site_count; i++) {
		const struct snapshot_site row = { .key = i + 1 };

		/* What windows have not seen is no site of the report. */
		all += budget_estimate_of(estimates, &row).known ? leaked[i] : 0;
		budget_estimate_add_gained(estimates, i + 1, &gained);
	}
	outcomes[0].sums += holds(&gained, all);
	for (i = 0; i < target->site_count; i++) {
		const struct snapshot_site row = { .key = i + 1 };
		struct budget_estimate of = budget_estimate_of(estimates, &row);
		struct outcome *outcome = &outcomes[i];

		if (!of.known)
			continue;
		outcome->known++;
		outcome->rates += holds(&of.rate, truth_of(&target->sites[i]));
		outcome->bytes += holds(&of.bytes, leaked[i]);
		outcome->leaks += of.verdict == BUDGET_LEAK;
		outcome->caches += of.verdict == BUDGET_CACHE;
		outcome->growing += of.verdict == BUDGET_GROWING;
		outcome->grows += of.grows;
		outcome->steady += of.steady;
		outcome->value += of.rate.value / RUNS;
		outcome->low += of.rate.low / RUNS;
		if (of.rate.value > most)
			first = i;
		most = fmax(most, of.rate.value);
	}
	outcomes[first].first += most > 0;
}

static void simulate(const struct sim_target *target, struct outcome *outcomes)
{
	struct random_numbers random = { .state = 13 };
	double leaked[SIM_SITES];
	int run;

	memset(outcomes, 0, SIM_SITES * sizeof(*outcomes));
	for (run = 0; run < RUNS; run++) {
		struct budget_report *report = sim_run(target, &random, leaked);
		struct budget_estimates *estimates = budget_estimates_new(report);

		add_run(target, estimates, leaked, outcomes);
		budget_estimates_free(estimates);
		budget_report_free(report);
	}
}

static double growth_of(const struct sim_target *target)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < target->site_count; i++)
		sum += truth_of(&target->sites[i]);
	return sum;
}

/* In the runs in which windows have seen nothing of a site, there is no interval of it. */
static void check_held(const struct outcome *of, size_t site)
{
	int unseen = RUNS - of->known;

	if (of->rates + unseen < HELD_MIN || of->bytes + unseen < HELD_MIN)
		fail_msg("site %zu: of %d intervals, %d of rates and %d of bytes hold the truth",
			 site, of->known, of->rates, of->bytes);
}

/*
 * No cache is called a leak, nor what passes; nor what stays if nothing of the site is freed, since it may be a cache that is not full. And a leak
 * whose blocks nobody writes to is not called a cache.
 */
static void check_verdicts(const struct sim_site *site, const struct outcome *of)
{
	if (!(site->leaks_per_s > 0) || !(site->passing > 0))
		assert_int_equal(of->leaks, 0);
	/* What grows is not steady; that is by intervals that hold the truth in 97.5 of 100 cases. */
	if (site->leaks_per_s > 0 && !(site->written_s > 0))
		assert_in_range(of->steady, 0, RUNS - HELD_MIN);
	if (!(site->leaks_per_s > 0))
		assert_int_equal(of->growing, 0);
	else if (!(site->written_s > 0))
		assert_int_equal(of->caches, 0);
	if (!(site->leaks_per_s > 0))
		assert_in_range(of->grows, 0, RUNS - HELD_MIN);
}

static void check(const struct sim_target *target, const struct expected *expected)
{
	struct outcome outcomes[SIM_SITES];
	double truth;
	size_t i;

	simulate(target, outcomes);
	for (i = 0; i < target->site_count; i++) {
		const struct sim_site *site = &target->sites[i];

		truth = truth_of(site);
		check_held(&outcomes[i], i);
		check_verdicts(site, &outcomes[i]);
		if (truth > 0.1 * growth_of(target) && !(site->written_s > 0) &&
		    !(fabs(outcomes[i].value - truth) <= expected->error * truth))
			fail_msg("site %zu: the mean rate is %.2f of the truth", i,
				 outcomes[i].value / truth);
	}
	if (outcomes[0].sums < HELD_MIN)
		fail_msg("%d intervals of all sites' sum hold the truth", outcomes[0].sums);
	truth = truth_of(&target->sites[0]);
	if (outcomes[0].low < expected->least * truth)
		fail_msg("the mean lower limit is %.2f of the truth", outcomes[0].low / truth);
	if (outcomes[0].first < expected->first)
		fail_msg("in %d runs of %d the first site was first", outcomes[0].first, RUNS);
}

/* A minute, with windows of 20 ms each 2 s, in which a target that is always busy is 13 times slower. */
#define MINUTE                                                                            \
	.duration_s = 60, .windows = 30, .window_s = 0.02, .own = 1 / 13.0, .running = 1, \
	.census_s = 3

static void test_steady(void **state)
{
	const struct sim_target target = { { { .size = 104, .leaks_per_s = 8000 },
					     { .size = 200, .leaks_per_s = 2000 },
					     { .size = 104, .passing = 3 } },
					   3,
					   MINUTE };

	(void)state;
	check(&target, &(struct expected){ 0.02, 0.7, RUNS });
}

/* Some leak in bursts of 40 blocks, of which a window has one or none, and others beside it do not. */
static void test_bursts(void **state)
{
	struct sim_target target = { { { .size = 104, .leaks_per_s = 400, .burst = 40 },
				       { .size = 200, .leaks_per_s = 100 },
				       { .size = 104, .leaks_per_s = 100 } },
				     3,
				     MINUTE };

	(void)state;
	target.own = 0.5;
	check(&target, &(struct expected){ 0.2, 0.1, 120 });
}

/* Caches of the size of a leak: one whose blocks others replace within a second, and one that holds them for half of the time. */
static void test_caches(void **state)
{
	const struct sim_target target = {
		{ { .size = 104, .leaks_per_s = 4000 },
		  { .size = 104, .cached_per_s = 20000, .life_s = 1, .replaced = 0.9 },
		  { .size = 104, .cached_per_s = 1000, .life_s = 30, .replaced = 0.5 },
		  { .size = 200, .leaks_per_s = 1500, .passing = 3 },
		  { .size = 312, .leaks_per_s = 500, .passing = 3 } },
		5,
		MINUTE
	};

	(void)state;
	check(&target, &(struct expected){ 0.1, 0.5, 145 });
}

/*
 * A target that rests most of the time, so that traps take more time in windows than it had otherwise; with few windows, and each by far
 * another part of its own time. What passes is replaced, in all classes: no class has nothing else.
 */
static void test_cache_of_resting(void **state)
{
	const struct sim_target target = {
		{ { .size = 104, .leaks_per_s = 11000, .passing = 10, .replaced = 1 },
		  { .size = 200, .leaks_per_s = 2800, .passing = 10, .replaced = 1 },
		  { .size = 312, .leaks_per_s = 700, .passing = 10, .replaced = 1 },
		  { .size = 104, .cached_per_s = 22000, .life_s = 1, .replaced = 0.9 } },
		4,
		.duration_s = 8,
		.windows = 10,
		.window_s = 0.045,
		.own = 0.3,
		.own_varies = 1,
		.running = 0.15,
		.charged = 0.99,
		.edges = 0.2,
		.census_s = 2
	};

	(void)state;
	check(&target, &(struct expected){ 0.15, 0.2, RUNS });
}

/* 40 times slower in windows: rates are those of the heap, and not of windows. */
static void test_saturated(void **state)
{
	struct sim_target target = { { { .size = 104, .leaks_per_s = 90000 },
				       { .size = 200, .leaks_per_s = 10000, .passing = 4 },
				       { .size = 104, .leaks_per_s = 3000 } },
				     3,
				     MINUTE };

	(void)state;
	target.own = 1 / 40.0;
	check(&target, &(struct expected){ 0.02, 0.85, RUNS });
}

static void test_late(void **state)
{
	const struct sim_target target = { { { .size = 104, .leaks_per_s = 8000, .from_s = 20 },
					     { .size = 200, .leaks_per_s = 2000, .from_s = 20 },
					     { .size = 104, .passing = 3 } },
					   3,
					   MINUTE };

	(void)state;
	check(&target, &(struct expected){ 0.02, 0.4, RUNS });
}

/* Few blocks of many that pass. The first two leak as many bytes, but for a twentieth. */
static void test_few(void **state)
{
	struct sim_target target = { { { .size = 208, .leaks_per_s = 210, .passing = 5 },
				       { .size = 104, .leaks_per_s = 400, .passing = 30 },
				       { .size = 208, .leaks_per_s = 20 } },
				     3,
				     MINUTE };

	(void)state;
	target.own = 0.3;
	check(&target, &(struct expected){ 0.05, 0.35, 100 });
}

/* The greatest leak's blocks are written to. It pushes up none of its size, whether or not traps show how slow windows were. */
static void test_written(void **state)
{
	struct sim_target target = { { { .size = 200, .leaks_per_s = 2000, .passing = 3 },
				       { .size = 104, .leaks_per_s = 8000, .written_s = 3 },
				       { .size = 104, .leaks_per_s = 1000 } },
				     3,
				     MINUTE };

	(void)state;
	check(&target, &(struct expected){ 0.1, 0.45, RUNS });
	target.charged = 1;
	check(&target, &(struct expected){ 0.1, 0.45, RUNS });
}

/* Nothing but their own class shows what windows see. */
static void test_written_alone(void **state)
{
	struct sim_target target = { { { .size = 104, .leaks_per_s = 1000 },
				       { .size = 104, .leaks_per_s = 8000, .written_s = 3 } },
				     2,
				     MINUTE };

	(void)state;
	check(&target, &(struct expected){ 0.1, 0.5, RUNS });
	target.charged = 1;
	check(&target, &(struct expected){ 0.1, 0.5, RUNS });
}

/* Of each site, 100 blocks at most are kept: estimates are what they are of all. */
static void test_thinned(void **state)
{
	struct sim_target target = {
		{ { .size = 104, .leaks_per_s = 8000 },
		  { .size = 104, .leaks_per_s = 2000 },
		  { .size = 104, .cached_per_s = 3000, .life_s = 4, .replaced = 0.3 } },
		3,
		MINUTE
	};

	(void)state;
	target.own = 0.5;
	check(&target, &(struct expected){ 0.05, 0.7, RUNS });
	target.most_of_site = 100;
	check(&target, &(struct expected){ 0.05, 0.7, RUNS });
}

/*
 * Two caches that are not full while tracing lasts: one frees nothing, one a block in a hundred, since an entry was changed. And a leak of as much, with
 * others that are freed. The cohort has all blocks, or is thinned as in the program (windows/budget.c).
 */
static void test_filling(void **state)
{
	struct sim_target target = { { { .size = 104, .leaks_per_s = 8000 },
				       { .size = 200, .leaks_per_s = 8000, .passing = 0.8 },
				       { .size = 312, .leaks_per_s = 8000, .passing = 40 } },
				     3,
				     MINUTE };
	struct outcome outcomes[SIM_SITES];
	int i;

	(void)state;
	target.own = 0.5;
	for (i = 0; i < 2; i++, target.most_of_site = 1000) {
		simulate(&target, outcomes);
		assert_int_equal(outcomes[0].leaks + outcomes[1].leaks, 0);
		assert_true(outcomes[0].growing >= 140 && outcomes[1].growing >= 140);
		assert_int_equal(outcomes[2].growing, 0);
		assert_true(outcomes[2].leaks >= 140);
	}
}

/*
 * A third of the blocks of one site stays, and the others live for half as long as tracing lasts, so that the curve falls to its end: that is no
 * cache while the heap grows. Beside it a cache whose blocks are young does remain one.
 */
static void test_long_lived_others(void **state)
{
	const struct sim_target target = {
		{ { .size = 104, .leaks_per_s = 1000, .cached_per_s = 2000, .life_s = 30 },
		  { .size = 200, .cached_per_s = 5000, .life_s = 1 } },
		2,
		MINUTE
	};
	struct outcome outcomes[SIM_SITES];

	(void)state;
	simulate(&target, outcomes);
	check_verdicts(&target.sites[0], &outcomes[0]);
	assert_true(outcomes[0].grows >= 140);
	assert_true(outcomes[1].caches >= 140);
}

/*
 * Nothing leaks: caches with blocks that live for a second, as long as the trace, and for hours, of which none is freed while tracing
 * lasts; and what passes.
 */
static void test_nothing(void **state)
{
	struct sim_target target = {
		{ { .size = 104, .cached_per_s = 5000, .life_s = 1, .replaced = 0.9 },
		  { .size = 104, .cached_per_s = 1000, .life_s = 50, .replaced = 0.5 },
		  { .size = 312, .cached_per_s = 300, .life_s = 20000 },
		  { .size = 200, .passing = 5, .replaced = 0.5 },
		  { .size = 312, .passing = 5 },
		  { .size = 416, .cached_per_s = 2000, .life_s = 60 } },
		6,
		MINUTE
	};

	(void)state;
	target.own = 0.5;
	check(&target, &(struct expected){ 0, 0, 0 });
}

/* Traces of minutes have many blocks: fewer of them. */
#define ORDER_RUNS 50

/* In so many runs of ORDER_RUNS the order of five leaks, each of twice the next one's growth, is that of the truth. */
static int count_in_order(double duration_s)
{
	const struct sim_target target = {
		{ { .size = 104, .leaks_per_s = 3200 },
		  { .size = 200, .leaks_per_s = 800 },
		  { .size = 104, .leaks_per_s = 800 },
		  { .size = 312, .leaks_per_s = 130, .passing = 5, .replaced = 0.5 },
		  { .size = 200, .leaks_per_s = 100 },
		  { .size = 104, .cached_per_s = 20000, .life_s = 1, .replaced = 0.9 },
		  { .size = 200, .cached_per_s = 500, .life_s = 10, .replaced = 0.5 } },
		7,
		.duration_s = duration_s,
		.windows = duration_s / 2,
		.window_s = 0.02,
		.own = 0.25,
		.running = 1,
		.census_s = duration_s / 20
	};
	struct random_numbers random = { .state = 13 };
	double leaked[SIM_SITES];
	int run, ordered = 0;
	size_t i;

	for (run = 0; run < ORDER_RUNS; run++) {
		struct budget_report *report = sim_run(&target, &random, leaked);
		struct budget_estimates *estimates = budget_estimates_new(report);
		double rates[SIM_SITES];

		for (i = 0; i < target.site_count; i++)
			rates[i] = budget_estimate_of(estimates,
						      &(struct snapshot_site){ .key = i + 1 })
					   .rate.value;
		for (i = 1; i < target.site_count && rates[i < 5 ? i - 1 : 4] > rates[i]; i++)
			;
		ordered += i == target.site_count;
		budget_estimates_free(estimates);
		budget_report_free(report);
	}
	return ordered;
}

static void test_order_converges(void **state)
{
	int short_runs = count_in_order(12), long_runs = count_in_order(60);

	(void)state;
	assert_true(short_runs < ORDER_RUNS / 2 && long_runs >= 45);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),	      cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_caches),	      cmocka_unit_test(test_cache_of_resting),
		cmocka_unit_test(test_saturated),     cmocka_unit_test(test_late),
		cmocka_unit_test(test_few),	      cmocka_unit_test(test_written),
		cmocka_unit_test(test_written_alone), cmocka_unit_test(test_thinned),
		cmocka_unit_test(test_nothing),	      cmocka_unit_test(test_order_converges),
		cmocka_unit_test(test_filling),	      cmocka_unit_test(test_long_lived_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
