/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Survival curves. Truth: published estimates of data that textbooks use, and simulations with fixed seeds, whose true curves are
 * formulas.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict/survival.h"
#include "unit/near.h"
#include "unit/random_numbers.h"

#define SECOND 1000000000ull
#define COUNT(items) (sizeof(items) / sizeof((items)[0]))

static struct survival_event died(uint64_t age)
{
	return (struct survival_event){ age, age, 1, 1 };
}

static struct survival_event alive(uint64_t age)
{
	return (struct survival_event){ age, SURVIVAL_ALIVE, 1, 1 };
}

static struct survival_event between(uint64_t after, uint64_t until)
{
	return (struct survival_event){ after, until, 1, 1 };
}

/*
 * Remission of leukemia under 6-MP, in weeks: Freireich et al., Blood 21 (1963). The estimates, Greenwood's standard errors and the
 * limits by log(-log) are those that Stata's "sts list" prints of these data.
 */
static const struct {
	uint64_t week;
	double share, error, low, high;
} leukemia[] = {
	{ 6, 0.8571, 0.0764, 0.6197, 0.9516 },	{ 7, 0.8067, 0.0869, 0.5631, 0.9228 },
	{ 10, 0.7529, 0.0963, 0.5032, 0.8894 }, { 13, 0.6902, 0.1068, 0.4316, 0.8491 },
	{ 16, 0.6275, 0.1141, 0.3675, 0.8049 }, { 22, 0.5378, 0.1282, 0.2678, 0.7468 },
	{ 23, 0.4482, 0.1346, 0.1881, 0.6801 },
};

static size_t make_leukemia(struct survival_event *events, double count, double weight)
{
	static const int died_at[] = { 6, 6, 6, 7, 10, 13, 16, 22, 23 };
	static const int alive_at[] = { 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35 };
	size_t i, n = 0;

	for (i = 0; i < COUNT(alive_at); i++)
		events[n++] = alive((uint64_t)alive_at[i]);
	for (i = 0; i < COUNT(died_at); i++)
		events[n++] = died((uint64_t)died_at[i]);
	for (i = 0; i < n; i++) {
		events[i].count = count;
		events[i].weight = weight;
	}
	return n;
}

static const struct survival_point *find_point(const struct survival *survival, uint64_t age)
{
	size_t i;

	for (i = 0; i < survival->count; i++)
		if (survival->points[i].age_ns == age)
			return &survival->points[i];
	fail_msg("no point at %llu", (unsigned long long)age);
	return NULL;
}

static void test_leukemia(void **state)
{
	struct survival survival = { 0 };
	struct survival_event events[21];
	struct estimate share;
	size_t i;

	(void)state;
	assert_int_equal(make_leukemia(events, 1, 1), 21);
	survival_estimate(&survival, events, 21);
	for (i = 0; i < COUNT(leukemia); i++) {
		const struct survival_point *point = find_point(&survival, leukemia[i].week);

		check_near(point->share.value, leukemia[i].share, 0.00006);
		check_near(sqrt(point->variance), leukemia[i].error, 0.00006);
		check_near(point->share.low, leukemia[i].low, 0.00006);
		check_near(point->share.high, leukemia[i].high, 0.00006);
	}
	check_near(find_point(&survival, 6)->at_risk, 21, 1e-9);
	check_near(find_point(&survival, 7)->at_risk, 17, 1e-9);
	assert_true(survival_at(&survival, 15, &share));
	check_near(share.value, 0.6902, 0.00006);
	assert_true(survival_at(&survival, 35, &share));
	check_near(share.value, 0.4482, 0.00006);
	assert_false(survival_at(&survival, 36, &share));
	assert_true(survival_at(&survival, 5, &share));
	check_near(share.value, 1, 0);
	survival_free(&survival);
}

/* The same blocks seen four times are a sample of four times the size; each represented four times, of the same size. */
static void test_weights(void **state)
{
	struct survival survival = { 0 };
	struct survival_event events[21];

	(void)state;
	make_leukemia(events, 4, 1);
	survival_estimate(&survival, events, 21);
	check_near(survival.points[0].share.value, 0.8571, 0.00006);
	check_near(sqrt(survival.points[0].variance), 0.0764 / 2, 0.00006);
	make_leukemia(events, 1, 4);
	survival_estimate(&survival, events, 21);
	check_near(survival.points[0].at_risk, 84, 1e-9);
	check_near(survival.points[0].effective, 21, 1e-9);
	check_near(survival.points[0].share.value, 0.8571, 0.00006);
	check_near(sqrt(survival.points[0].variance), 0.0764, 0.00006);
	survival_free(&survival);
}

/* The placebo group of the same trial: nothing is censored, so the curve is what is left, and falls to 0. */
static void test_complete(void **state)
{
	static const int weeks[] = { 1, 1, 2,  2,  3,  4,  4,  5,  5,  8, 8,
				     8, 8, 11, 11, 12, 12, 15, 17, 22, 23 };
	struct survival survival = { 0 };
	struct survival_event events[21];
	size_t i;

	(void)state;
	for (i = 0; i < 21; i++)
		events[i] = died((uint64_t)weeks[i]);
	survival_estimate(&survival, events, 21);
	assert_int_equal(survival.count, 12);
	check_near(find_point(&survival, 1)->share.value, 19.0 / 21, 1e-9);
	check_near(find_point(&survival, 8)->share.value, 8.0 / 21, 1e-9);
	check_near(sqrt(find_point(&survival, 8)->variance), 0.1060, 0.00006);
	check_near(find_point(&survival, 23)->share.value, 0, 0);
	check_near(find_point(&survival, 23)->share.low, 0, 0);
	assert_true(find_point(&survival, 23)->share.high > 0.5);
	survival_free(&survival);
}

/*
 * Months until cosmetic deterioration, after radiotherapy alone: Finkelstein and Wolfe, Biometrics 41 (1985). All that is known are
 * two visits. The estimate is Turnbull's as the package "interval" of R prints it.
 */
static void test_intervals(void **state)
{
	static const unsigned char visits[][2] = {
		{ 6, 10 },  { 0, 7 },	{ 7, 16 },  { 7, 14 },	{ 37, 44 }, { 0, 8 },	{ 4, 11 },
		{ 11, 15 }, { 25, 37 }, { 26, 40 }, { 27, 34 }, { 36, 44 }, { 36, 48 }, { 17, 25 },
		{ 11, 18 }, { 5, 12 },	{ 0, 5 },   { 5, 11 },	{ 19, 35 }, { 17, 25 }, { 19, 26 },
	};
	static const unsigned char last[] = { 45, 46, 46, 17, 15, 22, 46, 46, 46, 46, 46, 37, 40,
					      46, 38, 37, 18, 24, 36, 24, 32, 33, 37, 34, 36 };
	static const struct {
		uint64_t month;
		double mass;
	} masses[] = { { 5, 0.0463 },  { 7, 0.0334 },  { 8, 0.0887 },  { 12, 0.0708 },
		       { 25, 0.0926 }, { 34, 0.0818 }, { 40, 0.1209 }, { 48, 0.4656 } };
	struct survival_event events[46];
	struct survival survival = { 0 };
	double share = 1;
	size_t i, n = 0;

	(void)state;
	for (i = 0; i < COUNT(visits); i++)
		events[n++] = between(visits[i][0], visits[i][1]);
	for (i = 0; i < COUNT(last); i++)
		events[n++] = alive(last[i]);
	assert_int_equal(n, 46);
	survival_estimate(&survival, events, n);
	for (i = 0; i < COUNT(masses); i++) {
		double later = find_point(&survival, masses[i].month)->share.value;

		check_near(share - later, masses[i].mass, 0.0003);
		share = later;
	}
	survival_free(&survival);
}

/* Without a death the interval is that of so many blocks that are all alike. */
static void test_nothing_died(void **state)
{
	struct survival_event event = alive(10);
	struct survival survival = { 0 };
	struct survival_tail tail;
	struct estimate share;

	(void)state;
	event.count = 100;
	survival_estimate(&survival, &event, 1);
	assert_true(survival_at(&survival, 10, &share));
	check_near(share.value, 1, 0);
	check_near(share.low, pow(0.025, 0.01), 1e-9);
	check_near(share.high, 1, 0);
	tail = survival_judge_tail(&survival);
	assert_int_equal(tail.shape, SURVIVAL_FLAT);
	assert_int_equal(tail.from_ns, 5);
	assert_int_equal(tail.until_ns, 10);
	event.count = 9;
	survival_estimate(&survival, &event, 1);
	assert_int_equal(survival_judge_tail(&survival).shape, SURVIVAL_UNKNOWN);
	survival_free(&survival);
}

/* Nothing that others may have written makes it more than wrong. */
static void test_senseless(void **state)
{
	const struct survival_event events[] = {
		{ 5, 4, 1, 1 },	       { 5, 6, NAN, 1 },
		{ 5, 6, 1, INFINITY }, { 5, 6, -1, 1 },
		{ 5, 6, 1, 0 },	       { SURVIVAL_ALIVE, SURVIVAL_ALIVE, 1, 1 },
		{ 0, 0, 1e300, 1 },    { 0, UINT64_MAX - 1, 1e-300, 1 },
		{ 7, 9, 1e18, 1e6 },
	};
	struct survival survival = { 0 };
	struct estimate share;
	size_t i;

	(void)state;
	survival_estimate(&survival, NULL, 0);
	assert_false(survival_at(&survival, 5, &share));
	assert_int_equal(survival_judge_tail(&survival).shape, SURVIVAL_UNKNOWN);
	survival_estimate(&survival, events, 6);
	assert_int_equal(survival.count, 0);
	survival_estimate(&survival, events, COUNT(events));
	for (i = 0; i < survival.count; i++) {
		assert_true(survival.points[i].share.low <= survival.points[i].share.value);
		assert_true(survival.points[i].share.value <= survival.points[i].share.high);
	}
	(void)survival_judge_tail(&survival);
	survival_free(&survival);
}

/* A simulated site: a part of its blocks is never freed, the others live as a cache's do. */
struct site {
	double never, lifetime_s;
};

#define BLOCKS 240
#define CHECKED_S 2.0

static double lifetime(const struct site *site, struct random_numbers *random)
{
	if (random_share(random) < site->never)
		return INFINITY;
	return random_exponential(random, site->lifetime_s);
}

/*
 * As windows give them: a block is born at any moment of the last minute; from then on it is looked at each CHECKED_S, at a random phase.
 */
static struct survival_event observe(const struct site *site, struct random_numbers *random,
				     double check_s)
{
	double life = lifetime(site, random), age = 60 * random_share(random), before, phase;

	if (!(check_s > 0))
		return life < age ? died((uint64_t)(life * 1e9)) : alive((uint64_t)(age * 1e9));
	phase = check_s * random_share(random);
	before = life < phase ? 0 : phase + floor((fmin(life, age) - phase) / check_s) * check_s;
	if (life >= age || before + check_s > age)
		return alive((uint64_t)(fmax(before, 0) * 1e9));
	return between((uint64_t)(before * 1e9),
		       (uint64_t)((life < phase ? phase : before + check_s) * 1e9));
}

static void observe_all(const struct site *site, struct random_numbers *random, double check_s,
			struct survival_event *events, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		events[i] = observe(site, random, check_s);
}

static double true_share(const struct site *site, double age_s)
{
	return site->never + (1 - site->never) * exp(-age_s / site->lifetime_s);
}

/* How often the band has the true curve in it, at ages from 4 s to 50 s, in percent. */
static void check_coverage(const struct site *site, double check_s, size_t blocks, int runs)
{
	static const double ages[] = { 4, 10, 20, 35, 50 };
	struct random_numbers random = { .state = 20261123 };
	struct survival_event events[BLOCKS];
	struct survival survival = { 0 };
	int covered[COUNT(ages)] = { 0 }, asked[COUNT(ages)] = { 0 }, sum = 0, all = 0, run;
	struct estimate share;
	size_t i;

	for (run = 0; run < runs; run++) {
		observe_all(site, &random, check_s, events, blocks);
		survival_estimate(&survival, events, blocks);
		for (i = 0; i < COUNT(ages); i++) {
			double truth = true_share(site, ages[i]);

			/* In some runs no block lives so long. */
			if (!survival_at(&survival, (uint64_t)(ages[i] * 1e9), &share))
				continue;
			asked[i]++;
			covered[i] += share.low <= truth && truth <= share.high;
		}
	}
	for (i = 0; i < COUNT(ages); i++) {
		sum += covered[i];
		all += asked[i];
	}
	survival_free(&survival);
	if (sum < 0.93 * all || sum > 0.97 * all)
		fail_msg("%.2f %% of the bands have the truth in them", 100.0 * sum / all);
}

static void test_coverage(void **state)
{
	(void)state;
	check_coverage(&(struct site){ 0.3, 10 }, 0, BLOCKS, 400);
	check_coverage(&(struct site){ 0.05, 5 }, 0, BLOCKS, 400);
	check_coverage(&(struct site){ 0, 30 }, 0, BLOCKS, 400);
}

static void test_coverage_checked(void **state)
{
	(void)state;
	check_coverage(&(struct site){ 0.3, 10 }, CHECKED_S, BLOCKS / 2, 300);
	check_coverage(&(struct site){ 0.05, 20 }, CHECKED_S, BLOCKS / 2, 300);
}

/* How often tails of a simulated site are judged so, of 100. */
static int count_shape(const struct site *site, enum survival_shape shape, size_t blocks)
{
	struct random_numbers random = { .state = 7 };
	struct survival_event events[BLOCKS];
	struct survival survival = { 0 };
	int run, count = 0;

	for (run = 0; run < 100; run++) {
		observe_all(site, &random, CHECKED_S, events, blocks);
		survival_estimate(&survival, events, blocks);
		count += survival_judge_tail(&survival).shape == shape;
	}
	survival_free(&survival);
	return count;
}

static void test_tail(void **state)
{
	(void)state;
	/* A leak, alone and behind blocks that are freed soon. */
	assert_true(count_shape(&(struct site){ 1, 1 }, SURVIVAL_FLAT, BLOCKS) == 100);
	assert_true(count_shape(&(struct site){ 0.8, 1 }, SURVIVAL_FLAT, BLOCKS) >= 95);
	/* Caches whose lifetime was seen: never flat. */
	assert_int_equal(count_shape(&(struct site){ 0, 20 }, SURVIVAL_FLAT, BLOCKS), 0);
	assert_true(count_shape(&(struct site){ 0, 20 }, SURVIVAL_FALLING, BLOCKS) >= 90);
	assert_int_equal(count_shape(&(struct site){ 0, 60 }, SURVIVAL_FLAT, BLOCKS), 0);
	assert_int_equal(count_shape(&(struct site){ 0.2, 30 }, SURVIVAL_FLAT, BLOCKS), 0);
	/* Too few to say so. */
	assert_true(count_shape(&(struct site){ 1, 1 }, SURVIVAL_FLAT, 20) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leukemia),     cmocka_unit_test(test_weights),
		cmocka_unit_test(test_complete),     cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_nothing_died), cmocka_unit_test(test_senseless),
		cmocka_unit_test(test_coverage),     cmocka_unit_test(test_coverage_checked),
		cmocka_unit_test(test_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
