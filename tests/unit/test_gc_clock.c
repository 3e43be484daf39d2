/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which collections a block has outlived: against a list of when each began and ended, of which only looks are shown. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/gc_clock.h"

static void test_counts(void **state)
{
	struct gc_clock clock = { 0 };

	(void)state;
	gc_clock_look(&clock, 100, 7, false);
	assert_int_equal(gc_clock_outlived(&clock, 50), 0);
	assert_true(gc_clock_age(&clock, 100, 1) == UINT64_MAX);
	gc_clock_look(&clock, 200, 8, true); /* begins between 100 and 200, and goes on */
	assert_int_equal(gc_clock_outlived(&clock, 50), 0);
	gc_clock_look(&clock, 300, 8, false);
	assert_int_equal(gc_clock_outlived(&clock, 100), 1);
	assert_int_equal(gc_clock_outlived(&clock, 101), 0);
	assert_int_equal(gc_clock_age(&clock, 310, 1), 210);
	gc_clock_look(&clock, 400, 10, true); /* the first of the two has ended */
	assert_int_equal(gc_clock_outlived(&clock, 100), 2);
	assert_int_equal(gc_clock_outlived(&clock, 300), 1);
	assert_int_equal(gc_clock_age(&clock, 400, 2), 300);
	assert_true(gc_clock_age(&clock, 400, 3) == UINT64_MAX);
	assert_true(gc_clock_age(&clock, 400, 0) == UINT64_MAX);
}

/* What has outlived a collection has outlived it, whatever minor collections follow. */
static void test_minor(void **state)
{
	struct gc_clock clock = { 0 };

	(void)state;
	gc_clock_look(&clock, 100, 7, true);
	gc_clock_look(&clock, 200, 8, true);
	assert_int_equal(gc_clock_outlived(&clock, 50), 0);
	gc_clock_look(&clock, 300, 8, false);
	assert_int_equal(gc_clock_outlived(&clock, 50), 1);
	gc_clock_look(&clock, 400, 8, true);
	assert_int_equal(gc_clock_outlived(&clock, 50), 1);
	assert_int_equal(gc_clock_age(&clock, 400, 1), 300);
	gc_clock_look(&clock, 500, 9, true);
	assert_int_equal(gc_clock_outlived(&clock, 50), 1);
	gc_clock_look(&clock, 600, 9, false);
	assert_int_equal(gc_clock_outlived(&clock, 50), 2);
}

/* It is another program's: what was known is void. */
static void test_another(void **state)
{
	struct gc_clock clock = { 0 };

	(void)state;
	gc_clock_look(&clock, 100, 7, false);
	gc_clock_look(&clock, 200, 9, false);
	gc_clock_look(&clock, 300, 2, false);
	assert_int_equal(gc_clock_outlived(&clock, 0), 0);
	gc_clock_look(&clock, 400, 3, false);
	assert_int_equal(gc_clock_outlived(&clock, 300), 1);
}

/* Collections of random lengths, looks at random times. */
static void test_random(void **state)
{
	/* When each began, when it ended, and the look before it began. */
	static uint64_t begin[4000], end[4000], look[4000];
	uint64_t seed = 99, now = 1000, begun = 0, last = 0, born, outlived, seen, i;
	struct gc_clock clock = { 0 };
	int turn;

	(void)state;
	for (turn = 0; turn < 3000; turn++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		now += 1 + (seed >> 40) % 50;
		if (last && (!begun || end[begun - 1] < now) && seed >> 62) {
			begin[begun] = now;
			look[begun] = last;
			end[begun++] = now + 1 + (seed >> 30) % 200;
		}
		if (seed >> 20 & 1)
			continue;
		gc_clock_look(&clock, now, begun, begun && end[begun - 1] >= now);
		last = now;
		born = now - (seed >> 33) % 900;
		for (i = 0, outlived = 0, seen = 0; i < begun; i++) {
			outlived += begin[i] > born && end[i] < now;
			seen += look[i] >= born && end[i] < now;
		}
		assert_in_range(outlived, 0, GC_CLOCK_MAX - 1);
		assert_in_range(gc_clock_outlived(&clock, born), 0, outlived);
		assert_int_equal(gc_clock_outlived(&clock, born), seen);
		for (i = 1; i <= GC_CLOCK_MAX; i++)
			assert_int_equal(now - born >= gc_clock_age(&clock, now, i), seen >= i);
	}
	assert_int_equal(gc_clock_outlived(&clock, 0), GC_CLOCK_MAX - (end[begun - 1] >= last));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_minor),
		cmocka_unit_test(test_another),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
