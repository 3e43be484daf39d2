/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that were made after the first look and stayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/python_growth.h"

/* One pool of three blocks with these tags; the answers as bits. */
static unsigned int look(struct python_growth *growth, uint64_t pool, uint32_t a, uint32_t b,
			 uint32_t c)
{
	const uint32_t tags[] = { a, b, c };
	unsigned int stayed = 0;
	uint32_t i;

	python_growth_begin(growth);
	python_growth_add_pool(growth, pool - 0x4000, 2);
	python_growth_add_pool(growth, pool, 3);
	for (i = 0; i < 3; i++)
		if (tags[i])
			stayed |= (unsigned int)python_growth_add(growth, i, tags[i]) << i;
	return stayed;
}

/* There from the start; made after the first look, and stayed; another one at each look. */
static void test_stays(void **state)
{
	struct python_growth growth = { 0 };

	(void)state;
	assert_int_equal(look(&growth, 0x10000, 7, 0, 1), 0);
	assert_int_equal(look(&growth, 0x10000, 7, 9, 2), 0);
	assert_int_equal(look(&growth, 0x10000, 7, 9, 3), 2);
	assert_int_equal(look(&growth, 0x10000, 7, 9, 3), 2);
	python_growth_free(&growth);
}

/* One that was gone at a look is another one, also if it looks the same. */
static void test_gone(void **state)
{
	struct python_growth growth = { 0 };

	(void)state;
	assert_int_equal(look(&growth, 0x10000, 0, 0, 0), 0);
	assert_int_equal(look(&growth, 0x10000, 5, 6, 0), 0);
	assert_int_equal(look(&growth, 0x10000, 0, 6, 0), 2);
	assert_int_equal(look(&growth, 0x10000, 5, 6, 0), 2);
	python_growth_free(&growth);
}

/* A pool that was not there at the first look; one that has gone; one with blocks of another size. */
static void test_pools(void **state)
{
	struct python_growth growth = { 0 };

	(void)state;
	assert_int_equal(look(&growth, 0x10000, 1, 1, 1), 0);
	assert_int_equal(look(&growth, 0x20000, 1, 1, 1), 0);
	assert_int_equal(look(&growth, 0x20000, 1, 1, 1), 7);
	assert_int_equal(look(&growth, 0x30000, 1, 1, 1), 0);
	python_growth_begin(&growth);
	python_growth_add_pool(&growth, 0x30000, 2);
	assert_false(python_growth_add(&growth, 0, 1));
	assert_false(python_growth_add(&growth, 2, 1));
	python_growth_free(&growth);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stays),
					    cmocka_unit_test(test_gone),
					    cmocka_unit_test(test_pools) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
