/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moment at which most was in use: of a history that drops moments, and of a timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/peak.h"

#define SECOND 1000000000ULL
#define START (100 * SECOND)

static void hold(struct history *history, uint64_t key, uint64_t bytes)
{
	const struct site_stats stats = { .alloc_bytes = bytes, .alloc_objects = 1 };

	history_set(history, key, &stats);
}

static uint64_t row_of(const struct peak *peak, const struct peak_source *source, uint64_t key)
{
	const struct snapshot_site row = { .key = key };
	uint64_t bytes;

	assert_true(peak_of_row(peak, source, &row, 7, &bytes));
	return bytes;
}

/* Moment 30 is the highest one; it is dropped twice, with a site that has gone since. What was not ended does not count. */
static void test_history(void **state)
{
	struct history history = { 0 };
	const struct peak_source source = { .history = &history, .start_ns = START };
	struct peak peak;
	uint64_t i;

	(void)state;
	for (i = 0; i < 4 * HISTORY_POINTS; i++) {
		if (!history_begin(&history, START + (i + 1) * SECOND))
			continue;
		hold(&history, 1, 100 + i);
		if (i == 30)
			hold(&history, 2, 5000);
		history_end(&history);
	}
	history_begin(&history, START + 1000 * SECOND);
	hold(&history, 1, 1000000);
	history_take_back(&history);
	peak = peak_find(&source, 200, 1000 * SECOND);
	assert_true(peak.known && !peak.is_last);
	assert_int_equal(peak.bytes, 5130);
	assert_int_equal(peak.time_ns, 31 * SECOND);
	assert_int_equal(peak.spacing_ns, 1000 * SECOND - (history.last_ns - START));
	assert_int_equal(row_of(&peak, &source, 1), 130);
	assert_int_equal(row_of(&peak, &source, 2), 5000);
	assert_int_equal(row_of(&peak, &source, 3), 0);
	/* The moment of the report is one, too. */
	peak = peak_find(&source, 6000, 1000 * SECOND);
	assert_true(peak.is_last);
	assert_int_equal(peak.bytes, 6000);
	assert_int_equal(peak.time_ns, 1000 * SECOND);
	assert_int_equal(row_of(&peak, &source, 1), 7);
	history.is_full = true;
	peak = peak_find(&source, 200, 1000 * SECOND);
	assert_false(peak.known);
	history_free(&history);
}

static void test_timeline(void **state)
{
	struct timeline timeline = { 0 };
	const struct peak_source source = { .timeline = &timeline };
	struct peak peak;

	(void)state;
	timeline_begin(&timeline, 1 * SECOND);
	timeline_set(&timeline, 1, 50, false);
	timeline_begin(&timeline, 3 * SECOND);
	timeline_set(&timeline, 2, 80, false);
	timeline_set(&timeline, 3, 1000, true);
	timeline_begin(&timeline, 4 * SECOND);
	timeline_set(&timeline, 1, 60, false);
	timeline_set(&timeline, 2, 0, false);
	peak = peak_find(&source, 60, 4 * SECOND);
	assert_true(peak.known && !peak.is_last);
	assert_int_equal(peak.bytes, 130);
	assert_int_equal(peak.time_ns, 3 * SECOND);
	assert_int_equal(peak.spacing_ns, 2 * SECOND);
	assert_int_equal(row_of(&peak, &source, 1), 50);
	assert_int_equal(row_of(&peak, &source, 2), 80);
	assert_int_equal(row_of(&peak, &source, 4), 0);
	timeline_free(&timeline);
}

/* Without moments before the report's nothing is claimed. */
static void test_nothing(void **state)
{
	const struct peak_source source = { 0 };
	const struct snapshot_site row = { .key = 1 };
	const struct peak peak = peak_find(&source, 60, 4 * SECOND);
	uint64_t bytes;

	(void)state;
	assert_false(peak.known);
	assert_false(peak_of_row(&peak, &source, &row, 60, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
