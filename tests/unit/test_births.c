/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recording/births.h"

#define NOW 123456789012345ull

/* Ages come back to the nanosecond, whatever they are. */
static void test_births_are_exact(void **state)
{
	uint64_t random = 1, i;

	(void)state;
	for (i = 0; i < 10000; i++) {
		struct site_stats stats = { 0 }, back;
		struct births births;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		stats.free_objects = random >> 60;
		stats.alloc_objects = stats.free_objects + (random >> 40) % 1000;
		stats.young_objects = (random >> 30) % 10;
		stats.oldest_ns = random % NOW;
		/* They may contradict the number of blocks, which is counted at another moment. */
		stats.age_sum_ns = (unsigned __int128)stats.oldest_ns * ((random >> 20) % 1000);
		births = births_of(&stats, NOW);
		back = stats;
		back.oldest_ns = 1;
		back.age_sum_ns = 1;
		births_restore(&births, NOW, &back);
		if (stats.alloc_objects - stats.free_objects <= stats.young_objects) {
			assert_int_equal(births.mean_ns, 0);
			assert_true(!back.age_sum_ns && !back.oldest_ns);
			continue;
		}
		assert_int_equal(back.oldest_ns, stats.oldest_ns);
		assert_true(back.age_sum_ns == stats.age_sum_ns);
	}
}

/* Blocks that stay get older, and nothing of their births changes. */
static void test_births_stay(void **state)
{
	struct site_stats stats = { .alloc_objects = 7, .oldest_ns = 900, .age_sum_ns = 2003 };
	struct births births = births_of(&stats, NOW), later;

	(void)state;
	stats.oldest_ns += 5000;
	stats.age_sum_ns += 7 * 5000;
	later = births_of(&stats, NOW + 5000);
	assert_int_equal(births.oldest_ns, NOW - 900);
	assert_int_equal(births.oldest_ns, later.oldest_ns);
	assert_int_equal(births.mean_ns, later.mean_ns);
	assert_int_equal(births.rest_ns, later.rest_ns);
	assert_in_range(births.rest_ns, 0, 6);
}

/* Values that no writer has written. */
static void test_births_of_nonsense(void **state)
{
	const struct births worst[] = { { UINT64_MAX, INT64_MIN, UINT64_MAX },
					{ 0, INT64_MAX, INT64_MAX },
					{ INT64_MAX, 0, 0 } };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct site_stats stats = { .alloc_objects = INT64_MAX };

		births_restore(&worst[i], INT64_MAX / 2, &stats);
		stats.age_sum_ns = ~(unsigned __int128)0;
		births_of(&stats, INT64_MAX / 2);
		stats.alloc_objects = 1;
		assert_int_equal(births_of(&stats, NOW).mean_ns, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_births_are_exact),
		cmocka_unit_test(test_births_stay),
		cmocka_unit_test(test_births_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
