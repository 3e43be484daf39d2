/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a process over time, and whether windows are needed. Truth: courses and costs done by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/course.h"
#include "verdict/watch_price.h"
#include "unit/near.h"

#define SECOND 1000000000ULL
#define MIB (1024 * 1024ULL)

/* A course of `count` seconds: at its beginning, and by how much each figure grows in a second. */
static struct course_verdict judge(int count, uint64_t live, uint64_t free_bytes,
				   uint64_t live_more, uint64_t free_more)
{
	struct course course = { 0 };
	int i;

	for (i = 0; i < count; i++) {
		const uint64_t at = (uint64_t)i;
		const struct course_moment moment = { .time_ns = (5 + at) * SECOND,
						      .rss = live + free_bytes +
							     at * (live_more + free_more),
						      .live = live + at * live_more,
						      .free = free_bytes + at * free_more };

		course_add(&course, &moment);
	}
	return course_judge(&course);
}

static void test_words(void **state)
{
	struct course_verdict verdict;

	(void)state;
	assert_int_equal(judge(5, 10 * MIB, 90 * MIB, 0, 0).word, COURSE_UNKNOWN);
	assert_null(course_name(COURSE_UNKNOWN));
	assert_int_equal(judge(20, 90 * MIB, 10 * MIB, 0, 0).word, COURSE_PLAIN);
	/* A leak on a heap of which much is free: that does not grow, the leak is in what is in use. */
	verdict = judge(20, 10 * MIB, 22 * MIB, MIB / 4, 0);
	assert_int_equal(verdict.word, COURSE_FRAGMENTED);
	assert_string_equal(course_name(verdict.word), "fragmented");
	assert_int_equal(verdict.free, 22 * MIB);
	check_near(verdict.live.value, MIB / 4, 1);
	check_near(verdict.free_growth.value, 0, 1);
	/* What is free grows, and what is in use does not. */
	verdict = judge(20, 10 * MIB, 10 * MIB, 0, MIB);
	assert_int_equal(verdict.word, COURSE_FRAGMENTING);
	check_near(verdict.rss.value, MIB, 1);
	/* Both grow, and what is in use does faster: the program grows. */
	assert_int_equal(judge(20, 10 * MIB, 10 * MIB, 2 * MIB, MIB).word, COURSE_FRAGMENTED);
	/* A small heap has no fragmentation that matters. */
	assert_int_equal(judge(20, MIB / 4, MIB / 2, 0, 0).word, COURSE_PLAIN);
}

static void test_memory_is_bounded(void **state)
{
	struct course course = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 10000; i++)
		course_add(&course,
			   &(struct course_moment){ .time_ns = (1 + i) * SECOND, .rss = i });
	assert_true(course.count <= COURSE_MOMENTS && course.count >= COURSE_MOMENTS / 3);
	assert_int_equal(course.moments[0].rss, 0);
	for (i = 2; i < course.count; i++)
		assert_true(course.moments[i].time_ns > course.moments[i - 1].time_ns);
}

static void test_price(void **state)
{
	(void)state;
	/* 1 % of a whole CPU, for 10 s: 100 ms. */
	assert_true(watch_price_fits(1000, SECOND / 10, 10 * SECOND, 10 * SECOND));
	assert_false(watch_price_fits(1000, SECOND / 10 + 1, 10 * SECOND, 10 * SECOND));
	/* An idle target: of a quarter of one. */
	assert_true(watch_price_fits(1000, SECOND / 40, 0, 10 * SECOND));
	assert_false(watch_price_fits(1000, SECOND / 40 + 1, SECOND, 10 * SECOND));
}

/* Windows of 100 ms in each of 10 s, in which a target that runs all the time has taken this much for its traps. */
static bool allows(uint64_t cost_ns, bool *known)
{
	const struct budget_report report = { .budget = 1000,
					      .start_ns = SECOND,
					      .time_ns = 11 * SECOND,
					      .window_count = 10,
					      .hits = 1000,
					      .traced_ns = SECOND,
					      .cpu_ns = 10 * SECOND,
					      .cost_ns = cost_ns,
					      .busiest_ns = cost_ns };

	return watch_price_allows_all(&report, known);
}

static void test_choice(void **state)
{
	const struct budget_report nothing = { .budget = 1000, .start_ns = 1, .time_ns = SECOND };
	bool known = true;

	(void)state;
	/* All calls would take ten times of what a tenth of the time has taken, and the time that traps took has more calls. */
	assert_true(allows(SECOND / 102, &known));
	assert_true(known);
	assert_false(allows(SECOND / 100, &known));
	assert_true(known);
	/* Windows in which traps took all the time show that no budget is enough. */
	assert_false(allows(2 * SECOND, &known));
	assert_false(watch_price_allows_all(&nothing, &known));
	assert_false(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_price),
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
