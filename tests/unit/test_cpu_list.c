/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as the kernel writes them, and such as it does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "system/cpu_list.h"

static void test_ranges(void **state)
{
	const char *list = "0-3,5,8-8\n";
	int first, last;

	(void)state;
	assert_true(cpu_list_next(&list, &first, &last));
	assert_int_equal(first, 0);
	assert_int_equal(last, 3);
	assert_true(cpu_list_next(&list, &first, &last));
	assert_int_equal(first, 5);
	assert_int_equal(last, 5);
	assert_true(cpu_list_next(&list, &first, &last));
	assert_int_equal(last, 8);
	assert_false(cpu_list_next(&list, &first, &last));
}

static void test_members(void **state)
{
	(void)state;
	assert_true(cpu_list_has("0-3,5\n", 2));
	assert_true(cpu_list_has("0-3,5\n", 5));
	assert_false(cpu_list_has("0-3,5\n", 4));
	assert_false(cpu_list_has("\n", 0));
	assert_false(cpu_list_has("", 0));
}

static void test_malformed(void **state)
{
	static const char *const lists[] = { "x", "-1", "3-1", "0-99999999", "65536", "4-" };
	int first, last;
	size_t i;

	(void)state;
	for (i = 0; i + 1 < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *list = lists[i];

		assert_false(cpu_list_next(&list, &first, &last));
		assert_ptr_equal(list, lists[i]);
	}
	/* A range without an end is its first CPU; what follows is no range. */
	assert_true(cpu_list_has(lists[i], 4));
	assert_false(cpu_list_has(lists[i], 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
