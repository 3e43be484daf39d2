/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes of sizes and ages, and rows by class. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/budget_report.h"

static void test_size_classes(void **state)
{
	uint32_t class = 0;

	(void)state;
	assert_int_equal(budget_size_class(0), 0);
	assert_int_equal(budget_size_class(15), 0);
	assert_int_equal(budget_size_class(24), 1);
	assert_int_not_equal(budget_size_class(1008), budget_size_class(1024));
	assert_true(budget_size_class(UINT64_MAX) < BUDGET_SIZE_CLASSES);
	for (class = 0; class <= budget_size_class(UINT64_MAX); class ++) {
		assert_int_equal(budget_size_class(budget_size_least(class)), class);
		if (class)
			assert_int_equal(budget_size_class(budget_size_least(class) - 1),
					 class - 1);
	}
}

static void test_age_classes(void **state)
{
	(void)state;
	assert_int_equal(budget_age_class(0), BUDGET_AGE_0);
	assert_int_equal(budget_age_class(999999999), BUDGET_AGE_0);
	assert_int_equal(budget_age_class(1000000000), BUDGET_AGE_1);
	assert_int_equal(budget_age_class(UINT64_MAX), BUDGET_AGES - 1);
	assert_int_equal(budget_age_least_ns(BUDGET_AGE_64), 64000000000);
}

static void test_cohorts(void **state)
{
	static const uint32_t classes[] = { 7, 3, 9, 3, 5, 7 };
	struct budget_report *report = budget_report_new();
	struct budget_site *site = budget_report_add_site(report);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		budget_site_cohort(site, classes[i])->ages[0].reached.seen++;
	assert_int_equal(site->cohort_count, 4);
	for (i = 1; i < site->cohort_count; i++)
		assert_true(site->cohorts[i - 1].size_class < site->cohorts[i].size_class);
	assert_int_equal(site->cohorts[0].size_class, 3);
	assert_int_equal(site->cohorts[0].ages[0].reached.seen, 2);
	assert_int_equal(site->cohorts[3].ages[0].reached.seen, 1);
	budget_report_free(report);
	budget_report_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_classes),
		cmocka_unit_test(test_age_classes),
		cmocka_unit_test(test_cohorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
