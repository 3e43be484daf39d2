/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean" must catch slips and must not guess. Distances counted by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "command/suggest.h"

static void test_distances(void **state)
{
	static const struct {
		const char *from, *to;
		size_t distance;
	} rows[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "pid", "pid", 0 },
		{ "pid", "pids", 1 },
		{ "pids", "pid", 1 },
		{ "pdi", "pid", 1 },
		{ "sort", "sotr", 1 },
		{ "kitten", "sitting", 3 },
		{ "abcdef", "badcfe", 3 },
		{ "duration", "durration", 1 },
		{ "a", "b", 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(suggest_distance(rows[i].from, rows[i].to), rows[i].distance);
		assert_int_equal(suggest_distance(rows[i].to, rows[i].from), rows[i].distance);
	}
}

static void test_longest_words(void **state)
{
	char longest[64], longer[65];

	(void)state;
	memset(longest, 'a', 63);
	longest[63] = '\0';
	memset(longer, 'a', 64);
	longer[64] = '\0';
	assert_int_equal(suggest_distance(longest, longest), 0);
	assert_int_equal(suggest_distance(longest, ""), 63);
	assert_int_equal(suggest_distance(longer, longest), SIZE_MAX);
	assert_int_equal(suggest_distance(longest, longer), SIZE_MAX);
}

static void test_nearest(void **state)
{
	static const char *const words[] = { "pid",   "duration", "top",      "sort",	  "json",
					     "color", "folded",	  "min-size", "max-size", NULL };
	static const struct {
		const char *typed, *nearest;
	} rows[] = {
		{ "pids", "pid" },    { "durration", "duration" },
		{ "sotr", "sort" },   { "colour", "color" },
		{ "fold", NULL },     { "minsize", "min-size" },
		{ "comm", NULL },     { "cgroup", NULL },
		{ "x", NULL },	      { "", NULL },
		{ "jsno", "json" },   { "max-syze", "max-size" },
		{ "verbatim", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *nearest = suggest_nearest(rows[i].typed, words);

		if (rows[i].nearest) {
			assert_non_null(nearest);
			assert_string_equal(nearest, rows[i].nearest);
		} else {
			assert_null(nearest);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_longest_words),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
