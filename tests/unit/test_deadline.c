/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks and deadlines. Nothing here depends on how long anything takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <limits.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/deadline.h"

#define HOUR_NS 3600000000000u

static void test_clock(void **state)
{
	struct timespec before, after;
	uint64_t now_ns, boot_ns;
	int64_t now_ms;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	now_ns = clock_now_ns();
	now_ms = clock_now_ms();
	boot_ns = clock_boot_ns();
	clock_gettime(CLOCK_BOOTTIME, &after);
	assert_true(now_ns >= (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
	assert_true(now_ms >= (int64_t)(now_ns / 1000000));
	assert_true(boot_ns >= now_ns);
	assert_true(boot_ns <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
}

static void test_timespec(void **state)
{
	struct timespec time = clock_timespec(7000000042);

	(void)state;
	assert_int_equal(time.tv_sec, 7);
	assert_int_equal(time.tv_nsec, 42);
	assert_int_equal(clock_timespec(999999999).tv_sec, 0);
	assert_int_equal(clock_timespec(1000000000).tv_nsec, 0);
}

/* 0 is never, whichever side it is on. */
static void test_add(void **state)
{
	uint64_t deadline = 0;

	(void)state;
	deadline_add(&deadline, 0);
	assert_int_equal(deadline, 0);
	deadline_add(&deadline, 500);
	assert_int_equal(deadline, 500);
	deadline_add(&deadline, 700);
	deadline_add(&deadline, 0);
	assert_int_equal(deadline, 500);
	deadline_add(&deadline, 1);
	assert_int_equal(deadline, 1);
}

static void test_passed(void **state)
{
	(void)state;
	assert_false(deadline_has_passed(0));
	assert_true(deadline_has_passed(1));
	assert_true(deadline_has_passed(clock_now_ns()));
	assert_true(deadline_has_passed(deadline_in_ms(0)));
	assert_false(deadline_has_passed(clock_now_ns() + HOUR_NS));
}

/* A poll() that ended a moment too soon would be repeated with a timeout of 0: so what is left is rounded up. */
static void test_poll(void **state)
{
	uint64_t soon = clock_now_ns() + HOUR_NS;
	int left = deadline_poll_ms(soon);

	(void)state;
	assert_int_equal(deadline_poll_ms(0), -1);
	assert_int_equal(deadline_poll_ms(1), 0);
	assert_true(left > 0 && left <= 3600000);
	assert_true(clock_now_ns() + (uint64_t)left * 1000000 >= soon);
	assert_int_equal(deadline_poll_ms(UINT64_MAX), INT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock), cmocka_unit_test(test_timespec),
		cmocka_unit_test(test_add),   cmocka_unit_test(test_passed),
		cmocka_unit_test(test_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
