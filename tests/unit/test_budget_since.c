/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sites have grown by from one moment of a trace in windows to another: how often its interval holds the truth, of simulated traces
 * (budget_sim.h). Seeds are fixed, so a run is as any other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "verdict/budget_since.h"
#include "unit/budget_sim.h"

#define RUNS 150

/* Of 150 intervals of 95 %, fewer hold the truth in 2.5 of 100 cases. */
#define HELD_MIN 138

/* Of one site, over all runs. */
struct outcome {
	int known, held, grown, shrunk;
	double value, truth, width;
	double whole_width; /* of the growth since tracing began */
};

static void add_run(const struct sim_target *target, const struct budget_estimates *estimates,
		    const double *leaked, struct outcome *outcomes)
{
	size_t i;

	for (i = 0; i < target->site_count; i++) {
		const struct snapshot_site row = { .key = i + 1 };
		struct budget_estimate of = budget_estimate_of(estimates, &row);

		if (!of.known)
			continue;
		assert_true(of.since_known);
		outcomes[i].known++;
		outcomes[i].held += of.since.low <= leaked[i] + 1 && leaked[i] - 1 <= of.since.high;
		outcomes[i].grown += of.since.low > 0;
		outcomes[i].shrunk += of.since.high < 0;
		outcomes[i].value += of.since.value;
		outcomes[i].truth += leaked[i];
		outcomes[i].width += of.since.high - of.since.low;
		outcomes[i].whole_width += of.bytes.high - of.bytes.low;
	}
}

static void simulate(struct sim_target target, double cut_s, struct outcome *outcomes)
{
	struct random_numbers random = { .state = 7 };
	double leaked[SIM_SITES];
	int run;

	memset(outcomes, 0, SIM_SITES * sizeof(*outcomes));
	target.cut_s = cut_s;
	for (run = 0; run < RUNS; run++) {
		struct budget_report *before = NULL;
		struct budget_report *report = sim_run_both(&target, &random, leaked, &before);
		struct budget_estimates *estimates = budget_estimates_new(report);

		assert_true(budget_since_is_of_one(before, report));
		budget_since_begin(estimates, before);
		add_run(&target, estimates, leaked, outcomes);
		budget_estimates_free(estimates);
		budget_report_free(report);
		budget_report_free(before);
	}
}

/* In the runs in which windows have seen nothing of a site, there is no interval of it. */
static void check(const struct sim_target *target)
{
	struct outcome outcomes[SIM_SITES];
	double cut_s;
	size_t i;

	for (cut_s = 15; cut_s < 60; cut_s += 15) {
		simulate(*target, cut_s, outcomes);
		for (i = 0; i < target->site_count; i++) {
			int held = outcomes[i].held + RUNS - outcomes[i].known;

			if (held < HELD_MIN)
				fail_msg("from %.0f s: %d intervals of site %zu hold the truth",
					 cut_s, held, i);
			/* What hardly grows is seen by chance only. */
			if (!(target->sites[i].leaks_per_s > 0))
				assert_in_range(outcomes[i].grown + outcomes[i].shrunk, 0,
						RUNS - HELD_MIN);
		}
	}
}

#define MINUTE                                                                            \
	.duration_s = 60, .windows = 30, .window_s = 0.02, .own = 1 / 13.0, .running = 1, \
	.census_s = 3

#define STEADY                                                                      \
	{ .size = 104, .leaks_per_s = 8000 }, { .size = 200, .leaks_per_s = 2000 }, \
		{ .size = 104, .leaks_per_s = 1000 },                               \
	{                                                                           \
		.size = 104, .passing = 3                                           \
	}

static void test_steady(void **state)
{
	const struct sim_target target = { { STEADY }, 4, MINUTE };
	struct outcome outcomes[SIM_SITES];
	size_t i;

	(void)state;
	check(&target);
	/* Of the last quarter, the interval is far narrower than that of all the time: it is of what was seen in it. */
	simulate(target, 45, outcomes);
	for (i = 0; i < 3; i++) {
		assert_true(fabs(outcomes[i].value - outcomes[i].truth) < 0.05 * outcomes[i].truth);
		assert_int_equal(outcomes[i].grown, RUNS);
		assert_true(outcomes[i].width < 0.8 * outcomes[i].whole_width);
	}
}

static void test_bursts(void **state)
{
	struct sim_target target = { { { .size = 104, .leaks_per_s = 400, .burst = 40 },
				       { .size = 200, .leaks_per_s = 100 },
				       { .size = 104, .leaks_per_s = 100 } },
				     3,
				     MINUTE };

	(void)state;
	target.own = 0.5;
	check(&target);
}

static void test_few(void **state)
{
	struct sim_target target = { { { .size = 208, .leaks_per_s = 210, .passing = 5 },
				       { .size = 104, .leaks_per_s = 400, .passing = 30 },
				       { .size = 208, .leaks_per_s = 20 } },
				     3,
				     MINUTE };

	(void)state;
	target.own = 0.3;
	check(&target);
}

/* Caches that were full before tracing began: what windows see of them takes the place of blocks that they have not seen. */
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
	check(&target);
}

static void test_written(void **state)
{
	const struct sim_target target = { { { .size = 200, .leaks_per_s = 2000, .passing = 3 },
					     { .size = 104, .leaks_per_s = 8000, .written_s = 3 },
					     { .size = 104, .leaks_per_s = 1000 } },
					   3,
					   MINUTE };

	(void)state;
	check(&target);
}

static void test_thinned(void **state)
{
	struct sim_target target = { { STEADY }, 4, MINUTE };

	(void)state;
	target.own = 0.5;
	target.most_of_site = 100;
	check(&target);
}

/* Growth that began, or has ended, between the moments. Growth since tracing began, less that of the earlier moment, would be far off. */
static void test_changes(void **state)
{
	struct sim_target target = { { STEADY }, 4, MINUTE };
	struct outcome outcomes[SIM_SITES];

	(void)state;
	target.sites[2].leaks_per_s = 2000;
	target.sites[0].from_s = 30;
	target.sites[1].from_s = 20;
	check(&target);
	target.sites[0].from_s = target.sites[1].from_s = 0;
	target.sites[0].until_s = 30;
	target.sites[1].until_s = 20;
	check(&target);
	/* What grew until then grows no more, and the others still do. */
	simulate(target, 30, outcomes);
	assert_in_range(outcomes[0].grown + outcomes[1].grown, 0, RUNS - HELD_MIN);
	assert_true(outcomes[2].grown >= 100);
}

/* All that two sites hold is freed between the moments. */
static void test_emptied(void **state)
{
	struct sim_target target = { { STEADY }, 4, MINUTE };
	struct outcome outcomes[SIM_SITES];

	(void)state;
	target.sites[0].emptied_s = 36;
	target.sites[1].until_s = 20;
	target.sites[1].emptied_s = 48;
	check(&target);
	simulate(target, 30, outcomes);
	assert_int_equal(outcomes[1].shrunk, RUNS);
	assert_true(fabs(outcomes[1].value - outcomes[1].truth) < -0.05 * outcomes[1].truth);
}

/* Without a census nothing is known; a process that was not there had nothing. Reports of two traces have no difference. */
static void test_unknown(void **state)
{
	struct sim_target target = { { STEADY }, 4, MINUTE };
	struct random_numbers random = { .state = 7 };
	const struct snapshot_site row = { .key = 1 };
	double leaked[SIM_SITES];
	struct budget_report *before = NULL, *after;
	struct budget_estimates *estimates;
	struct budget_estimate of;

	(void)state;
	target.cut_s = 30;
	after = sim_run_both(&target, &random, leaked, &before);
	estimates = budget_estimates_new(after);
	assert_false(budget_estimate_of(estimates, &row).since_known);
	before->heaps[0].allocator = NULL;
	budget_since_begin(estimates, before);
	assert_false(budget_estimate_of(estimates, &row).since_known);
	budget_estimates_free(estimates);
	before->heaps[0].target_id++;
	estimates = budget_estimates_new(after);
	budget_since_begin(estimates, before);
	of = budget_estimate_of(estimates, &row);
	assert_true(of.since_known && of.since.value == of.bytes.value);
	budget_estimates_free(estimates);
	before->start_ns++;
	assert_false(budget_since_is_of_one(before, after));
	before->start_ns--;
	assert_false(budget_since_is_of_one(after, before));
	budget_report_free(before);
	budget_report_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),	cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_few),	cmocka_unit_test(test_caches),
		cmocka_unit_test(test_written), cmocka_unit_test(test_thinned),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_emptied),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
