/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much longer one would have to look, of simulated traces in windows (budget_sim.h). Truth: the same program, traced for so long. Seeds are
 * fixed, so a run is as any other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "verdict/budget_wait.h"
#include "unit/budget_sim.h"

#define RUNS 40
#define SHORT_S 20

/* A small leak of which some are freed, seen by windows of 20 ms each 2 s. */
static struct sim_target target_of(double leaks_per_s, double passing, double duration_s)
{
	return (struct sim_target){
		.sites = { { .size = 104, .leaks_per_s = leaks_per_s, .passing = passing } },
		.site_count = 1,
		.duration_s = duration_s,
		.windows = duration_s / 2,
		.window_s = 0.02,
		.own = 0.5,
		.running = 1,
		.census_s = fmax(3, duration_s / 60)
	};
}

static struct budget_estimate judge(const struct sim_target *target, struct random_numbers *random)
{
	double leaked[SIM_SITES];
	struct budget_report *report = sim_run(target, random, leaked);
	struct budget_estimates *estimates = budget_estimates_new(report);
	struct budget_estimate of =
		budget_estimate_of(estimates, &(struct snapshot_site){ .key = 1 });

	budget_estimates_free(estimates);
	budget_report_free(report);
	return of;
}

struct outcome {
	int seen, unknown, waits; /* runs: of a block, not judged then, with a time to wait */
	int known, sooner; /* of these: judged after that time, after an eighth of it */
};

static struct outcome wait_for(double leaks_per_s, double passing)
{
	struct random_numbers random = { .state = 17 };
	struct outcome outcome = { 0 };
	int run;

	for (run = 0; run < RUNS; run++) {
		struct sim_target target = target_of(leaks_per_s, passing, SHORT_S);
		struct budget_estimate of = judge(&target, &random);
		double wait_s = (double)of.wait_ns / 1e9;

		outcome.seen += of.known;
		outcome.unknown += of.known && of.verdict == BUDGET_UNKNOWN;
		if (!of.wait_ns)
			continue;
		outcome.waits++;
		target = target_of(leaks_per_s, passing, SHORT_S + wait_s);
		outcome.known += judge(&target, &random).verdict != BUDGET_UNKNOWN;
		target = target_of(leaks_per_s, passing, SHORT_S + wait_s / 8);
		outcome.sooner += judge(&target, &random).verdict != BUDGET_UNKNOWN;
	}
	return outcome;
}

/* The time is given, it is enough in three of four runs at least, and most of it is needed. */
static void test_wait(void **state)
{
	static const double leaks_per_s[] = { 100, 300 };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const struct outcome outcome = wait_for(leaks_per_s[i], 3);

		assert_in_range(outcome.unknown, RUNS * 3 / 4, outcome.seen);
		assert_int_equal(outcome.waits, outcome.unknown);
		assert_in_range(outcome.known, outcome.waits * 3 / 4, outcome.waits);
		assert_in_range(outcome.sooner, 0, outcome.waits / 4);
	}
}

/* What is known needs no time; of a heap that cannot be counted, and of what was never followed, no time is known. */
static void test_not_known(void **state)
{
	struct budget_estimate of = { .followed = 1, .rate = { 1, 1, 1 }, .bytes = { 1, 1, 1 } };
	struct random_numbers random = { .state = 17 };
	struct sim_target target = target_of(3000, 30, SHORT_S);

	(void)state;
	assert_int_equal(judge(&target, &random).wait_ns, 0);
	/* One old block of 120 that are needed. */
	assert_int_equal(budget_wait_of(&of, 1, SIM_SECOND), 119 * SIM_SECOND);
	of.lower_bound = true;
	assert_int_equal(budget_wait_of(&of, 1, SIM_SECOND), 0);
	of.lower_bound = false;
	of.followed = 0;
	assert_int_equal(budget_wait_of(&of, 0, SIM_SECOND), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
