/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word of a whole process, and of a row of several places. What windows estimate is made up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/budget_estimate.h"
#include "analyze/report_verdict.h"
#include "unit/verdict_sim.h"

static enum verdict_word word_of(bool counted, double low, enum verdict_word worst)
{
	const struct budget_estimates estimates = { .counted = counted,
						    .growth = { 100, low, 200 } };
	const struct report_options options = { .estimates = &estimates };
	const struct snapshot snapshot = { 0 };
	const struct verdict verdict = report_verdict_of_all(&snapshot, &options, worst);

	assert_true(verdict.estimated);
	assert_true(verdict.growth.low == (counted ? low : -INFINITY));
	return verdict.word;
}

/* A process grows if a row does, and all heaps with certainty. A row that leaks is enough for a leak. */
static void test_windows(void **state)
{
	(void)state;
	assert_int_equal(word_of(true, 1, VERDICT_GROWING), VERDICT_GROWING);
	assert_int_equal(word_of(true, -1, VERDICT_GROWING), VERDICT_UNKNOWN);
	assert_int_equal(word_of(false, 1, VERDICT_GROWING), VERDICT_UNKNOWN);
	assert_int_equal(word_of(true, 1, VERDICT_CACHE), VERDICT_UNKNOWN);
	assert_int_equal(word_of(true, 1, VERDICT_NONE), VERDICT_UNKNOWN);
	assert_int_equal(word_of(true, -1, VERDICT_LEAK), VERDICT_LEAK);
	assert_int_equal(word_of(false, 1, VERDICT_LEAK), VERDICT_LEAK);
}

/* Blocks of a place: one of `every` stays (0 = none does), the others live for `life_s`. */
static struct sim place(double rate, unsigned int every, double life_s)
{
	struct sim sim = { 0 };
	unsigned int i;

	for (i = 0; i < rate * 20; i++)
		sim_add(&sim, i / rate, every && i % every == 0 ? SIM_NEVER : life_s, 100);
	sim_begin(&sim);
	return sim;
}

/* Of both together after 20 s, in a row that is by what they have in common, or not. */
static struct verdict verdict_of_both(const struct sim *first, const struct sim *second, bool mixed)
{
	struct sim sims[] = { *first, *second };
	struct history history = { 0 };
	struct snapshot_site sites[2] = { { .key = 1 }, { .key = 2 } };
	struct snapshot_site row = { .members = sites, .member_count = 2, .mixed = mixed };
	const struct report_options options = { .history = &history };
	const struct snapshot snapshot = { .start_ns = SIM_START,
					   .time_ns = SIM_START + sim_ns(20) };
	struct verdict verdict;
	double time_s;
	int i;

	for (time_s = 0.25; time_s <= 20; time_s += 0.25) {
		if (!history_begin(&history, SIM_START + sim_ns(time_s)))
			continue;
		for (i = 0; i < 2; i++) {
			sim_run(&sims[i], time_s);
			history_set(&history, sites[i].key, &sims[i].stats);
		}
	}
	for (i = 0; i < 2; i++) {
		sim_run(&sims[i], 20);
		sites[i].stats = sim_stats(&sims[i], 20);
		site_stats_add(&row.stats, &sites[i].stats);
	}
	verdict = report_verdict_of(&snapshot, &options, &row);
	for (i = 0; i < 2; i++)
		sim_end(&sims[i]);
	history_free(&history);
	return verdict;
}

/* What is freed at one place, and what stays at another one: as one line it looks like a leak. */
static void test_cache_beside_short_lives(void **state)
{
	struct sim fills = place(500, 1, 0), temporary = place(500, 0, 0.01);
	struct verdict verdict = verdict_of_both(&fills, &temporary, true);

	(void)state;
	assert_int_equal(verdict.word, VERDICT_GROWING);
	assert_false(verdict.never_freed_known);
	fills = place(500, 1, 0);
	temporary = place(500, 0, 0.01);
	assert_int_equal(verdict_of_both(&fills, &temporary, false).word, VERDICT_LEAK);
}

/* The process of a small leak leaks, however much else comes and goes. */
static void test_leak_beside_cache(void **state)
{
	struct sim leaks = place(200, 20, 0.5), cache = place(2000, 0, 4);

	(void)state;
	assert_int_equal(verdict_of_both(&leaks, &cache, true).word, VERDICT_LEAK);
}

static void test_windows_of_several_places(void **state)
{
	struct budget_estimate estimate = { .known = true,
					    .verdict = BUDGET_LEAK,
					    .rate = { 100, 50, 150 } };
	struct verdict verdict = verdict_of_estimates(&estimate, false);

	(void)state;
	assert_int_equal(verdict_of_estimate(&estimate).word, VERDICT_LEAK);
	assert_int_equal(verdict.word, VERDICT_GROWING);
	assert_false(verdict.never_freed_known);
	estimate.rate.low = -50;
	assert_int_equal(verdict_of_estimates(&estimate, false).word, VERDICT_UNKNOWN);
	estimate.verdict = BUDGET_CACHE;
	verdict = verdict_of_estimates(&estimate, true);
	assert_int_equal(verdict.word, VERDICT_LEAK);
	assert_false(verdict.never_freed_known);
	assert_true(verdict.growth.value == 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_cache_beside_short_lives),
		cmocka_unit_test(test_leak_beside_cache),
		cmocka_unit_test(test_windows_of_several_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
