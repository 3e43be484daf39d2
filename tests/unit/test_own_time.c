/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What part of the windows was the target's own time. Truth: classes that were made by a tenth, and windows of 2 s in all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/own_time.h"
#include "unit/near.h"

#define WINDOWS_S 2

/* A class that grows by `growth` bytes a second, all of it by blocks of 100 bytes that stay unchanged; others are `written`. */
static struct own_time_class make_class(double growth, double written)
{
	double bytes = growth * 0.1 * WINDOWS_S;

	return (struct own_time_class){ .seen = bytes / 100,
					.independent = bytes / 100,
					.bytes = bytes,
					.written_bytes = written * bytes,
					.growth = growth,
					.growth_error = 0.01 * growth };
}

/* Of one class it is not known whether what is written to is of its growth. */
static void test_alone(void **state)
{
	struct own_time_class class = make_class(50000, 2);
	struct estimate own = { 0, 0, 1 };

	(void)state;
	own_time_calibrate(&class, 1, WINDOWS_S, &own);
	check_near(own.value, 0, 0);
	check_near(own.high, 1, 0);
	class = make_class(50000, 0.1);
	own_time_calibrate(&class, 1, WINDOWS_S, &own);
	check_near(own.value, 0.1, 1e-9);
	assert_true(own.low > 0.05 && own.low < 0.1 && own.high > 0.11 && own.high < 0.17);
	/* It came in one burst: that shows little. */
	own = (struct estimate){ 0, 0, 1 };
	class.independent = 1;
	own_time_calibrate(&class, 1, WINDOWS_S, &own);
	assert_true(own.low < 0.02 && own.high > 0.5);
	/* Too few blocks, or no growth. */
	own = (struct estimate){ 0, 0, 1 };
	class = make_class(5000, 0);
	own_time_calibrate(&class, 1, WINDOWS_S, &own);
	class = make_class(50000, 0);
	class.growth = 0;
	own_time_calibrate(&class, 1, WINDOWS_S, &own);
	own_time_calibrate(NULL, 0, WINDOWS_S, &own);
	own_time_calibrate(&class, 1, 0, &own);
	check_near(own.value, 0, 0);
}

/* Two classes agree, though most of what is old in them is written to: so that is none of their growth. */
static void test_agree(void **state)
{
	const struct own_time_class classes[] = { make_class(100000, 9), make_class(50000, 2) };
	struct estimate own = { 0, 0, 1 };

	(void)state;
	own_time_calibrate(classes, 2, WINDOWS_S, &own);
	check_near(own.value, 0.1, 1e-9);
	assert_true(own.high < 0.5);
	/* Limits that are known otherwise stay. */
	own = (struct estimate){ 0.5, 0.4, 0.6 };
	own_time_calibrate(classes, 2, WINDOWS_S, &own);
	check_near(own.value, 0.4, 0);
	check_near(own.low, 0.4, 0);
}

/*
 * Of a cache that is full, all old blocks look unchanged, since those in their places begin alike; and what it grows by is noise. It is
 * left out, be it alone or the clearest of all.
 */
static void test_full_cache(void **state)
{
	struct own_time_class classes[] = { make_class(400000, 0), make_class(50000, 0.1) };
	struct estimate own = { 0, 0, 1 };

	(void)state;
	classes[0].growth = 2000;
	classes[0].growth_error = 2500;
	own_time_calibrate(classes, 1, WINDOWS_S, &own);
	check_near(own.value, 0, 0);
	check_near(own.low, 0, 0);
	/* However certain that little growth is: windows cannot see more than all of it. */
	classes[0].growth_error = 20;
	own_time_calibrate(classes, 1, WINDOWS_S, &own);
	check_near(own.low, 0, 0);
	own_time_calibrate(classes, 2, WINDOWS_S, &own);
	check_near(own.value, 0.1, 1e-9);
	assert_true(own.low < 0.1 && own.high < 0.17);
}

/* In the largest class most of the growth is of blocks that are written to. */
static void test_written(void **state)
{
	struct own_time_class classes[] = { make_class(50000, 0.1), make_class(400000, 4),
					    make_class(20000, 0.5) };
	struct estimate own = { 0, 0, 1 };

	(void)state;
	classes[1].growth *= 5;
	classes[1].growth_error *= 5;
	own_time_calibrate(classes, 3, WINDOWS_S, &own);
	check_near(own.value, 0.1, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_full_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
