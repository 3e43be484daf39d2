/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions of the user over bytes of anybody's choice. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/pattern.h"

static void check(const char *expression, const char *text, bool expected)
{
	struct pattern pattern = { 0 };
	struct error error = { 0 };

	assert_int_equal(pattern_compile(expression, &pattern, &error), 0);
	if (pattern_matches(&pattern, text) != expected)
		fail_msg("'%s' and '%s'", expression, text);
	pattern_free(&pattern);
	pattern_free(&pattern);
}

static void test_matches(void **state)
{
	(void)state;
	check("puma", "puma 6.4 (tcp://0.0.0.0:9292) [shop]", true);
	check("^puma", "bundle exec puma", false);
	check("puma|unicorn", "unicorn master", true);
	check("worker [0-9]+$", "puma: cluster worker 12", true);
	check("\\[shop\\]", "puma [shop]", true);
	check("a.b",
	      "a\xff"
	      "b",
	      true);
	check("a.b", "a\nb", true);
	check("$", "", true);
	assert_false(pattern_matches(&(struct pattern){ 0 }, ""));
}

static void test_refused(void **state)
{
	static const char *const wrong[] = { "", "(", "a{2", "[", "(a)\\1", "\\\\\\(.\\)\\2" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct pattern pattern = { 0 };
		struct error error = { 0 };

		assert_int_equal(pattern_compile(wrong[i], &pattern, &error), -EINVAL);
		assert_int_equal(error.kind, ERROR_USAGE);
		assert_true(strlen(error.text) > 0);
		assert_false(pattern.valid);
	}
	/* A backslash of its own before a digit. */
	check("a\\\\1", "a\\1", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
