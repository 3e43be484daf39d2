/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of the blocks of windows, and that thinning keeps the sums. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>

#include "base/hash.h"
#include "windows/budget_cohort.h"

#define SECOND 1000000000ull
#define SITE 77
#define TARGET 3

static struct cohort_entry entry_at(uint64_t address, uint64_t born_ns)
{
	return (struct cohort_entry){ .site = SITE,
				      .target_id = TARGET,
				      .address = address,
				      .size = 104,
				      .born_ns = born_ns,
				      .draw = (uint32_t)hash_word(1, address) };
}

static const struct budget_age *ages_of(struct budget_report *report, uint32_t size_class)
{
	return budget_site_cohort(&report->sites[0], size_class)->ages;
}

/* One stays, one is freed at the age of 7 s (seen at 6, found at 8), one is written, one is lost, one's address is given out again. */
static void test_findings(void **state)
{
	struct budget_cohort_set set = { 0 };
	struct budget_report *report = budget_report_new();
	const struct budget_age *ages;
	struct cohort_entry entry;
	uint64_t i;

	(void)state;
	for (i = 1; i <= 5; i++) {
		entry = entry_at(i * 4096, 10 * SECOND);
		assert_true(budget_cohort_enter(&set, &entry, 10 * SECOND));
	}
	for (i = 1; i <= 3; i++)
		budget_cohort_see(&set, budget_cohort_find(&set, TARGET, i * 4096), 16 * SECOND,
				  COHORT_UNCHANGED);
	budget_cohort_see(&set, budget_cohort_find(&set, TARGET, 2 * 4096), 18 * SECOND,
			  COHORT_FREED);
	budget_cohort_see(&set, budget_cohort_find(&set, TARGET, 3 * 4096), 18 * SECOND,
			  COHORT_WRITTEN);
	/* Written once is written for good. */
	budget_cohort_see(&set, budget_cohort_find(&set, TARGET, 3 * 4096), 19 * SECOND,
			  COHORT_UNCHANGED);
	budget_cohort_see(&set, budget_cohort_find(&set, TARGET, 4 * 4096), 18 * SECOND,
			  COHORT_LOST);
	entry = entry_at(5 * 4096, 30 * SECOND);
	budget_cohort_enter(&set, &entry, 30 * SECOND);
	budget_cohort_report(&set, 30 * SECOND, report);
	assert_int_equal(report->site_count, 1);
	ages = ages_of(report, budget_size_class(104));
	assert_int_equal(ages[BUDGET_AGE_0].reached.seen, 6);
	assert_int_equal(ages[BUDGET_AGE_1].reached.seen, 4);
	assert_int_equal(ages[BUDGET_AGE_4].reached.seen, 4);
	assert_int_equal(ages[BUDGET_AGE_8].reached.seen, 2);
	assert_int_equal(ages[BUDGET_AGE_16].reached.seen, 0);
	assert_int_equal(ages[BUDGET_AGE_4].freed.seen, 1);
	/* The middle between 10 s and 30 s is the age of 10 s. */
	assert_int_equal(ages[BUDGET_AGE_8].freed.seen, 1);
	assert_int_equal(ages[BUDGET_AGE_0].lost.seen, 1);
	assert_int_equal(ages[BUDGET_AGE_4].unchanged.seen, 1);
	assert_int_equal(ages[BUDGET_AGE_4].unchanged.bytes, 104);
	assert_int_equal(ages[BUDGET_AGE_8].written.seen, 1);
	assert_int_equal(ages[BUDGET_AGE_0].unchanged.seen, 1);
	budget_report_free(report);
	budget_cohort_free(&set);
}

/* In each class, what has come is what is there, is gone, or went on. */
static void check_flow(const struct budget_age *ages)
{
	size_t i;

	for (i = 0; i + 1 < BUDGET_AGES; i++)
		assert_int_equal(ages[i].reached.seen,
				 ages[i].freed.seen + ages[i].lost.seen + ages[i].unchanged.seen +
					 ages[i].written.seen + ages[i + 1].reached.seen);
}

static void test_flow(void **state)
{
	struct budget_cohort_set set = { 0 };
	struct budget_report *report = budget_report_new();
	struct cohort_entry entry;
	struct cohort_block *block;
	uint64_t i, now;

	(void)state;
	for (now = SECOND; now < 100 * SECOND; now += SECOND) {
		for (i = 0; i < 10; i++) {
			entry = entry_at(now + i * 64, now);
			budget_cohort_enter(&set, &entry, now);
			block = budget_cohort_find(&set, TARGET,
						   (i * 9 % 90 + 1) * SECOND + i * 64);
			if (block)
				budget_cohort_see(&set, block, now, now / SECOND % 4);
		}
	}
	budget_cohort_report(&set, now, report);
	check_flow(ages_of(report, budget_size_class(104)));
	budget_report_free(report);
	budget_cohort_free(&set);
}

/* 40,000 blocks of one site, of which a quarter is freed, in room for 500: what they represent is about right. */
static void test_thinning(void **state)
{
	struct budget_cohort_set set = { .most_of_site = 500 };
	struct budget_report *report = budget_report_new();
	const struct budget_age *ages;
	struct cohort_entry entry;
	struct cohort_block *block;
	uint64_t i;

	(void)state;
	for (i = 1; i <= 40000; i++) {
		entry = entry_at(i * 112, SECOND);
		budget_cohort_enter(&set, &entry, SECOND);
		assert_true(set.blocks.count <= 500);
	}
	for (i = 1; i <= 40000; i++) {
		block = budget_cohort_find(&set, TARGET, i * 112);
		if (block)
			budget_cohort_see(&set, block, 4 * SECOND,
					  i % 4 ? COHORT_UNCHANGED : COHORT_FREED);
	}
	budget_cohort_report(&set, 4 * SECOND, report);
	ages = ages_of(report, budget_size_class(104));
	assert_in_range(ages[BUDGET_AGE_2].unchanged.seen, 150, 400);
	/* Four standard deviations of 250 blocks are a quarter. */
	assert_in_range(ages[BUDGET_AGE_2].unchanged.blocks, 22500, 37500);
	assert_in_range(ages[BUDGET_AGE_1].freed.blocks, 5000, 15000);
	assert_int_equal(ages[BUDGET_AGE_2].unchanged.bytes,
			 104 * ages[BUDGET_AGE_2].unchanged.blocks);
	budget_report_free(report);
	budget_cohort_free(&set);
}

/* The largest site makes room: a rare one is seen in full. */
static void test_room(void **state)
{
	struct budget_cohort_set set = { .most = 1000 };
	struct cohort_entry entry;
	uint64_t i;

	(void)state;
	for (i = 1; i <= 20000; i++) {
		entry = entry_at(i * 112, SECOND);
		if (i % 200 == 0)
			entry.site = SITE + 1;
		budget_cohort_enter(&set, &entry, SECOND);
	}
	assert_true(set.blocks.count <= 1000);
	assert_int_equal(budget_cohort_site(&set, SITE + 1, TARGET)->count, 100);
	assert_int_equal(budget_cohort_site(&set, SITE + 1, TARGET)->bits, 0);
	budget_cohort_forget_site(&set, SITE);
	assert_int_equal(set.blocks.count, 100);
	budget_cohort_lose(&set, TARGET, 2 * SECOND);
	assert_int_equal(set.blocks.count, 0);
	budget_cohort_free(&set);
}

/* The allocator has another size than was asked for: the block is of that class from its beginning on. */
static void test_resize(void **state)
{
	struct budget_cohort_set set = { 0 };
	struct budget_report *report = budget_report_new();
	struct cohort_entry entry = entry_at(4096, SECOND);
	struct cohort_block *block;

	(void)state;
	budget_cohort_enter(&set, &entry, SECOND);
	block = budget_cohort_find(&set, TARGET, 4096);
	budget_cohort_see(&set, block, 3 * SECOND, COHORT_UNCHANGED);
	budget_cohort_resize(block, 200);
	budget_cohort_report(&set, 3 * SECOND, report);
	assert_int_equal(ages_of(report, budget_size_class(104))[0].reached.seen, 0);
	assert_int_equal(ages_of(report, budget_size_class(104))[1].reached.bytes, 0);
	assert_int_equal(ages_of(report, budget_size_class(200))[0].reached.bytes, 200);
	assert_int_equal(ages_of(report, budget_size_class(200))[2].unchanged.bytes, 200);
	check_flow(ages_of(report, budget_size_class(200)));
	budget_report_free(report);
	budget_cohort_free(&set);
}

/* Thinned since they were older than 2 s: what the classes before have of them is less than they represent now. */
static void test_resize_thinned(void **state)
{
	struct budget_cohort_set set = { .most_of_site = 8 };
	struct budget_report *report = budget_report_new();
	const struct budget_age *ages;
	struct cohort_entry entry;
	struct cohort_block *block;
	uint64_t i;

	(void)state;
	for (i = 1; i <= 64; i++) {
		entry = entry_at(i * 4096, SECOND);
		budget_cohort_enter(&set, &entry, SECOND);
		block = budget_cohort_find(&set, TARGET, i * 4096);
		if (block)
			budget_cohort_see(&set, block, 3 * SECOND, COHORT_UNCHANGED);
	}
	for (i = 1; i <= 64; i++) {
		block = budget_cohort_find(&set, TARGET, i * 4096);
		if (block)
			budget_cohort_resize(block, 200);
	}
	budget_cohort_report(&set, 3 * SECOND, report);
	ages = ages_of(report, budget_size_class(104));
	for (i = 0; i < BUDGET_AGES; i++) {
		assert_in_range(ages[i].reached.seen, 0, 64);
		assert_in_range(ages[i].reached.blocks, 0, 640);
		assert_in_range(ages[i].reached.bytes, 0, 640 * 104);
	}
	budget_report_free(report);
	budget_cohort_free(&set);
}

/* Two windows have 2 and 3 blocks of one age, of which one is written to; a third has one of another age. */
static void test_windows(void **state)
{
	static const unsigned char windows[] = { 1, 1, 2, 2, 2, 3 };
	struct budget_cohort_set set = { 0 };
	struct budget_report *report = budget_report_new();
	const struct budget_age *ages;
	struct cohort_entry entry;
	uint64_t i, born_ns;

	(void)state;
	for (i = 0; i < 6; i++) {
		born_ns = windows[i] < 3 ? windows[i] * SECOND : 9 * SECOND;
		entry = entry_at((i + 1) * 4096, born_ns);
		entry.window = windows[i];
		assert_true(budget_cohort_enter(&set, &entry, born_ns));
		budget_cohort_see(&set, budget_cohort_find(&set, TARGET, entry.address),
				  10 * SECOND, i == 4 ? COHORT_WRITTEN : COHORT_UNCHANGED);
	}
	budget_cohort_report(&set, 10 * SECOND, report);
	ages = ages_of(report, budget_size_class(104));
	assert_int_equal(ages[BUDGET_AGE_8].unchanged.seen, 4);
	assert_int_equal(ages[BUDGET_AGE_8].window_squares, 2 * 2 + 2 * 2);
	assert_int_equal(ages[BUDGET_AGE_1].window_squares, 1);
	budget_report_free(report);
	budget_cohort_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_findings), cmocka_unit_test(test_flow),
		cmocka_unit_test(test_thinning), cmocka_unit_test(test_room),
		cmocka_unit_test(test_resize),	 cmocka_unit_test(test_resize_thinned),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
