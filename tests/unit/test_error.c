/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors: the first one wins, a long one is cut, nobody has to want one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"

static void test_first_wins(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(error_set(&error, ERROR_TARGET, -ESRCH, "no process %d", 42), -ESRCH);
	assert_int_equal(error_set(&error, ERROR_USAGE, -EINVAL, "later"), -EINVAL);
	assert_int_equal(error.kind, ERROR_TARGET);
	assert_string_equal(error.text, "no process 42");
}

static void test_null(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, ERROR_USAGE, -EINVAL, "nobody reads this"), -EINVAL);
}

static void test_long_text_is_cut(void **state)
{
	struct error error = { 0 };
	char *name = malloc(5001);

	(void)state;
	memset(name, 'x', 5000);
	name[5000] = '\0';
	error_set(&error, ERROR_NOTHING, -ENOENT, "%s", name);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_memory_equal(error.text, name, sizeof(error.text) - 1);
	free(name);
}

/* The kinds are exit statuses that scripts rely on: 2 usage, 3 permission, 4 target, 5 nothing to probe. */
static void test_kinds_are_exit_statuses(void **state)
{
	(void)state;
	assert_int_equal(ERROR_USAGE, 2);
	assert_int_equal(ERROR_PERMISSION, 3);
	assert_int_equal(ERROR_TARGET, 4);
	assert_int_equal(ERROR_NOTHING, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_wins),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_kinds_are_exit_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
