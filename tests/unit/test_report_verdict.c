/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The word of a whole process. What windows estimate is made up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/budget_estimate.h"
#include "analyze/report_verdict.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_windows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
