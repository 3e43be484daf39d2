/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates of growth. Truth: lines done by hand, and simulated programs whose leaks have known rates; seeds are fixed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict/growth_rate.h"
#include "unit/near.h"
#include "unit/random_numbers.h"

#define RUNS 100

static bool holds(const struct estimate *estimate, double truth)
{
	assert_true(estimate->low <= estimate->value && estimate->value <= estimate->high);
	return estimate->low <= truth && truth <= estimate->high;
}

static void test_line(void **state)
{
	const struct growth_rate_point line[] = {
		{ 10, 500 }, { 12, 700 }, { 13, 800 }, { 17, 1200 }
	};
	/* By hand: means 2 and 18; sums of squares 2 and of products 10; rests 1, -2 and 1; so 5 with 12.706 * sqrt(6 / 2). */
	const struct growth_rate_point bent[] = { { 1, 14 }, { 2, 16 }, { 3, 24 } };
	struct estimate rate = growth_rate_of(line, 4, 0);

	(void)state;
	check_near(rate.value, 100, 1e-9);
	check_near(rate.low, 100, 1e-6);
	check_near(rate.high, 100, 1e-6);
	rate = growth_rate_of(bent, 3, 0);
	check_near(rate.value, 5, 1e-9);
	assert_true(rate.high >= 5 + 12.706 * sqrt(3) - 1e-6);
	/* Two points are a line without an interval, and one is none. */
	rate = growth_rate_of(line, 2, 0);
	check_near(rate.value, 100, 1e-9);
	assert_true(isinf(rate.low) && isinf(rate.high));
	check_near(growth_rate_of(line, 1, 0).value, 0, 0);
	check_near(growth_rate_of(NULL, 0, 0).value, 0, 0);
}

/* What a simulated heap does: blocks of one size leak at random, others come and go. */
struct heap {
	double leaked_per_s, block_bytes, churn_bytes;
	int censuses;
	double period_s;
};

static struct estimate observe_growth(const struct heap *heap, struct random_numbers *random)
{
	struct growth_rate_point points[64];
	double leaked = 0;
	int i;

	for (i = 0; i < heap->censuses; i++) {
		leaked += heap->block_bytes *
			  random_count(random, heap->leaked_per_s * heap->period_s);
		points[i].time_s = i * heap->period_s;
		points[i].bytes = 1e6 + leaked + heap->churn_bytes * random_normal(random);
	}
	return growth_rate_of(points, (size_t)heap->censuses, heap->block_bytes);
}

static void check_growth(const struct heap *heap)
{
	struct random_numbers random = { .state = 13 };
	double sum = 0, truth = heap->leaked_per_s * heap->block_bytes;
	int run, covered = 0;

	for (run = 0; run < 10 * RUNS; run++) {
		struct estimate rate = observe_growth(heap, &random);

		covered += holds(&rate, truth);
		sum += rate.value;
	}
	assert_true(covered >= 930);
	check_near(sum / (10 * RUNS), truth, 0.02 * truth);
}

static void test_growth(void **state)
{
	(void)state;
	check_growth(&(struct heap){ 8200, 720, 0, 16, 2 });
	check_growth(&(struct heap){ 8200, 720, 720 * 500, 16, 2 });
	check_growth(&(struct heap){ 100, 64, 64 * 30, 31, 1 });
	check_growth(&(struct heap){ 100, 64, 64 * 30, 5, 6 });
	check_growth(&(struct heap){ 10, 1024, 0, 10, 3 });
}

/* A simulated program. */
#define SITES 4
struct program {
	double leaks_per_s[SITES]; /* never freed */
	double written[SITES]; /* the share of their blocks that is written to */
	double cache_per_s; /* by one more site: full, so that it does not grow */
	double cache_life_s;
	double slower; /* so many times slower in a window */
	double window_s_low; /* what is known of it: least own time of a window; 0 = nothing */
	double weight; /* one of so many blocks of the cohort is kept */
	double zombies; /* blocks written to that took the place of others, of the last site; for each window */
	double churn_bytes;
};

#define BLOCK 64.0
#define WINDOW_S 0.02
#define WINDOWS 15 /* in which the old blocks were born, 2 s apart; they are 31 s old and more */

/* Blocks of a site that are still found. A cache's have each lived through their time at random. */
static double observe_blocks(const struct program *program, double per_s, double life_s,
			     struct random_numbers *random)
{
	double count = 0, share;
	int window;

	for (window = 0; window < WINDOWS; window++) {
		share = life_s > 0 ? exp(-(31.0 + 2 * window) / life_s) : 1;
		count += random_count(random,
				      per_s * WINDOW_S / program->slower * share / program->weight);
	}
	return count;
}

static void observe_site(const struct program *program, int i, struct random_numbers *random,
			 struct growth_rate_site *site)
{
	bool cache = i == SITES;
	double written = cache ? 0 : program->written[i];
	double per_s = cache ? program->cache_per_s : program->leaks_per_s[i];
	double life_s = cache ? program->cache_life_s : 0;

	*site = (struct growth_rate_site){ .falling = cache };
	site->unchanged_seen = observe_blocks(program, per_s * (1 - written), life_s, random);
	site->unchanged_bytes = site->unchanged_seen * program->weight * BLOCK;
	site->written_seen = observe_blocks(program, per_s * written, life_s, random);
	if (i == SITES - 1)
		site->written_seen +=
			random_count(random, program->zombies * WINDOWS / program->weight);
	site->written_bytes = site->written_seen * program->weight * BLOCK;
}

static void observe(const struct program *program, struct random_numbers *random,
		    struct growth_rate_site *sites, struct growth_rate_class *ret_class)
{
	struct heap heap = { 0, BLOCK, program->churn_bytes, 16, 2 };
	int i;

	for (i = 0; i <= SITES; i++)
		observe_site(program, i, random, &sites[i]);
	for (i = 0; i < SITES; i++)
		heap.leaked_per_s += program->leaks_per_s[i];
	*ret_class = (struct growth_rate_class){
		.counted = true,
		.growth = observe_growth(&heap, random),
		.window_s = { WINDOWS * program->window_s_low, WINDOWS * program->window_s_low,
			      WINDOWS * WINDOW_S },
		.sites = sites,
		.count = SITES + 1,
	};
	growth_rate_divide(ret_class);
}

/* Mean rates, and in how many of RUNS runs the truth was in the interval; in bytes per second. */
struct outcome {
	double mean[SITES + 1], written, unknown;
	int covered[SITES + 1], written_covered;
};

static struct outcome simulate(const struct program *program)
{
	struct random_numbers random = { .state = 20261123 };
	struct growth_rate_site sites[SITES + 1];
	struct growth_rate_class class;
	struct outcome outcome = { 0 };
	double written = 0;
	int run, i;

	for (i = 0; i < SITES; i++)
		written += program->leaks_per_s[i] * program->written[i] * BLOCK;
	for (run = 0; run < RUNS; run++) {
		observe(program, &random, sites, &class);
		for (i = 0; i <= SITES; i++) {
			double truth = i < SITES ? program->leaks_per_s[i] *
							   (1 - program->written[i]) * BLOCK
						 : 0;

			outcome.covered[i] += holds(&sites[i].rate, truth);
			outcome.mean[i] += sites[i].rate.value / RUNS;
		}
		outcome.written += class.written.value / RUNS;
		outcome.unknown += class.unknown.value / RUNS;
		outcome.written_covered += holds(&class.written, written);
	}
	return outcome;
}

static void check_covered(const struct outcome *outcome, int least)
{
	int i;

	for (i = 0; i <= SITES; i++)
		if (outcome->covered[i] < least)
			fail_msg("site %d: %d of %d intervals hold", i, outcome->covered[i], RUNS);
}

/* 13 times slower in a window, as Python was: windows alone would say a thirteenth. */
static void test_saturated(void **state)
{
	const struct program program = { .leaks_per_s = { 8200, 820, 300, 0 },
					 .slower = 13,
					 .weight = 1,
					 .churn_bytes = 64 * 200 };
	struct outcome outcome = simulate(&program);

	(void)state;
	check_covered(&outcome, 95);
	check_near(outcome.mean[0], 8200 * BLOCK, 0.02 * 8200 * BLOCK);
	check_near(outcome.mean[1], 820 * BLOCK, 0.05 * 820 * BLOCK);
	check_near(outcome.unknown + outcome.written, 0, 1);
}

/* Of each 8 blocks one is kept: that makes intervals wider, and changes no mean. */
static void test_thinned(void **state)
{
	const struct program program = { .leaks_per_s = { 40000, 8000, 4000, 0 },
					 .slower = 4,
					 .weight = 8,
					 .churn_bytes = 64 * 500 };
	struct outcome outcome = simulate(&program);

	(void)state;
	check_covered(&outcome, 95);
	check_near(outcome.mean[0], 40000 * BLOCK, 0.02 * 40000 * BLOCK);
	check_near(outcome.mean[1], 8000 * BLOCK, 0.05 * 8000 * BLOCK);
	check_near(outcome.mean[2], 4000 * BLOCK, 0.05 * 4000 * BLOCK);
}

/* A full cache of the same size holds old blocks as well. It is seen to fall. */
static void test_cache(void **state)
{
	const struct program program = { .leaks_per_s = { 2000, 500, 0, 0 },
					 .cache_per_s = 2000,
					 .cache_life_s = 20,
					 .slower = 2,
					 .weight = 1,
					 .churn_bytes = 64 * 100 };
	struct outcome outcome = simulate(&program);

	(void)state;
	check_covered(&outcome, 95);
	assert_true(outcome.mean[SITES] < 0.15 * 2000 * BLOCK);
}

/* All blocks of the greatest leak are written to. That never makes others larger. */
static void test_written(void **state)
{
	const struct program program = { .leaks_per_s = { 4000, 1000, 400, 0 },
					 .written = { 1, 0, 0, 0 },
					 .slower = 1,
					 .window_s_low = 0.9 * WINDOW_S,
					 .weight = 1,
					 .churn_bytes = 64 * 100 };
	struct outcome outcome = simulate(&program);
	struct program blind = program;

	(void)state;
	check_covered(&outcome, 95);
	assert_true(outcome.written_covered >= 95);
	/* By the slowest that the windows may have been, which is a tenth too slow here. */
	assert_true(outcome.mean[1] < 1.15 * 1000 * BLOCK);
	assert_true(outcome.mean[2] < 1.15 * 400 * BLOCK);
	/* Nor where nothing is known of the windows' speed. */
	blind.slower = 5;
	blind.window_s_low = 0;
	outcome = simulate(&blind);
	check_covered(&outcome, 95);
	assert_true(outcome.written_covered >= 95);
	assert_true(outcome.mean[1] < 1.1 * 1000 * BLOCK);
}

/*
 * Python's case: ten times as many blocks whose place was taken by others. Where the time that traps take is known, the windows must have
 * seen all of the leak, and it has all of the growth.
 */
static void test_zombies(void **state)
{
	const struct program program = { .leaks_per_s = { 8200, 0, 0, 0 },
					 .slower = 13,
					 .window_s_low = 0.8 * WINDOW_S / 13,
					 .weight = 1,
					 .zombies = 130,
					 .churn_bytes = 64 * 200 };
	struct outcome outcome = simulate(&program);

	(void)state;
	check_covered(&outcome, 95);
	check_near(outcome.mean[0], 8200 * BLOCK, 0.05 * 8200 * BLOCK);
}

/* Growth of which no old block is found is nobody's; a class that shrinks has no rate. */
static void test_unknown(void **state)
{
	struct growth_rate_site site = { .unchanged_seen = 3, .unchanged_bytes = 300 };
	struct growth_rate_class class = { .counted = true,
					   .growth = { 1000, 900, 1100 },
					   .window_s = { 1, 1, 1 },
					   .sites = &site,
					   .count = 1 };

	(void)state;
	/* 3 blocks in a second of windows: 300 bytes per second, and by the exact interval at most 877. */
	growth_rate_divide(&class);
	check_near(site.rate.value, 300, 1);
	assert_true(site.rate.high >= 876);
	check_near(class.unknown.value, 700, 1);
	assert_true(class.unknown.low < 124);
	class.count = 0;
	growth_rate_divide(&class);
	check_near(class.unknown.value, 1000, 0);
	check_near(class.unknown.low, 900, 1e-9);
	class.count = 1;
	class.growth = (struct estimate){ -1000, -1100, -900 };
	growth_rate_divide(&class);
	check_near(site.rate.value, 0, 0);
	check_near(site.rate.high, 0, 0);
	check_near(class.unknown.value, 0, 0);
}

/* Without a census: what was seen in the windows' time, at least. */
static void test_uncounted(void **state)
{
	struct growth_rate_site site = { .unchanged_seen = 100, .unchanged_bytes = 6400 };
	struct growth_rate_class class = { .window_s = { 0.1, 0.1, 2 },
					   .sites = &site,
					   .count = 1 };

	(void)state;
	growth_rate_divide(&class);
	check_near(site.rate.value, 3200, 1e-9);
	check_near(site.rate.low, 3200 * 0.8136, 1); /* of 100: 81.36 by the exact interval */
	assert_true(isinf(site.rate.high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	  cmocka_unit_test(test_growth),
		cmocka_unit_test(test_saturated), cmocka_unit_test(test_thinned),
		cmocka_unit_test(test_cache),	  cmocka_unit_test(test_written),
		cmocka_unit_test(test_zombies),	  cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_uncounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
