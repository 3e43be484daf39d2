/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The string pool: equal strings have one address, others have none in common. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/strings.h"

#define COUNT 5000

static void test_equal(void **state)
{
	struct strings strings = { 0 };
	char text[] = "malloc";
	const char *kept = strings_keep(&strings, text);

	(void)state;
	assert_string_equal(kept, "malloc");
	assert_ptr_not_equal(kept, text);
	assert_ptr_equal(strings_keep(&strings, "malloc"), kept);
	text[0] = 'c';
	assert_string_equal(kept, "malloc");
	assert_string_equal(strings_keep(&strings, text), "calloc");
	strings_free(&strings);
}

static void test_empty(void **state)
{
	struct strings strings = { 0 };

	(void)state;
	assert_null(strings_keep(&strings, ""));
	assert_null(strings_keep(&strings, NULL));
	strings_free(&strings);
}

/* Also a pool that is used again after strings_free(). */
static void test_many(void **state)
{
	static const char *kept[COUNT];
	struct strings strings = { 0 };
	char text[32];
	int round, i;

	(void)state;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < COUNT; i++) {
			snprintf(text, sizeof(text), "function_%d", i);
			kept[i] = strings_keep(&strings, text);
		}
		for (i = 0; i < COUNT; i++) {
			snprintf(text, sizeof(text), "function_%d", i);
			assert_string_equal(kept[i], text);
			assert_ptr_equal(strings_keep(&strings, text), kept[i]);
		}
		strings_free(&strings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
