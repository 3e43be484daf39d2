/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long windows were up to a time. Truth: the sum of their lengths, one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "verdict/budget_windows.h"
#include "windows/budget_marks.h"

#define SECOND 1000000000ull
#define WINDOWS 5000 /* 2 s apart */

static uint64_t window_length(uint64_t window)
{
	return 10000000 + window % 7 * 1000000;
}

static double sum_until(uint64_t windows, uint64_t time_ns)
{
	uint64_t sum = 0, i;

	for (i = 0; i < windows && (i + 1) * 2 * SECOND <= time_ns; i++)
		sum += window_length(i);
	return (double)sum;
}

static struct budget_report *make_report(uint64_t windows)
{
	struct budget_report *report = budget_report_new();
	struct budget_marks marks = { 0 };
	uint64_t i;

	for (i = 0; i < windows; i++)
		budget_marks_add(&marks, (i + 1) * 2 * SECOND, window_length(i));
	budget_marks_report(&marks, report);
	return report;
}

static void test_few(void **state)
{
	struct budget_report *report = make_report(100);
	uint64_t time_ns;

	(void)state;
	for (time_ns = 0; time_ns < 210 * SECOND; time_ns += SECOND / 2)
		assert_true(budget_windows_traced(report, time_ns) == sum_until(100, time_ns));
	budget_report_free(report);
}

/* Thinned, they are right to a hundredth at any time of the later half, and at the end exactly. */
static void test_many(void **state)
{
	struct budget_report *report = make_report(WINDOWS);
	uint64_t time_ns, end_ns = WINDOWS * 2 * SECOND;

	(void)state;
	assert_true(report->mark_count <= BUDGET_MARKS_MAX);
	assert_int_equal(report->marks[0].start_ns, 2 * SECOND);
	for (time_ns = end_ns / 2; time_ns < end_ns; time_ns += 7 * SECOND) {
		double truth = sum_until(WINDOWS, time_ns);

		assert_true(fabs(budget_windows_traced(report, time_ns) - truth) < 0.01 * truth);
	}
	assert_true(budget_windows_traced(report, end_ns) == sum_until(WINDOWS, end_ns));
	budget_report_free(report);
}

static void test_none(void **state)
{
	struct budget_report *report = make_report(0);

	(void)state;
	assert_true(budget_windows_traced(report, SECOND) == 0);
	budget_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
