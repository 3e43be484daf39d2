/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --survived leaves out because no garbage collector is known is no silent loss. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "command/survived_notice.h"

static void test_notice(void **state)
{
	struct snapshot_site sites[] = {
		{ .stats = { 5 << 20, 5, 0, 0, .gcs_known = true } },
		/* Nothing of it is in use. */
		{ .stats = { 700, 7, 700, 7 } },
		{ .stats = { 3 << 20, 3, 1 << 20, 1 } },
		/* Its counters contradict each other. */
		{ .stats = { 10, 1, 20, 2 } },
	};
	struct snapshot snapshot = { .sites = sites };
	struct buffer text = { 0 };

	(void)state;
	assert_false(survived_notice(&snapshot, &text));
	snapshot.site_count = 2;
	assert_false(survived_notice(&snapshot, &text));
	assert_int_equal(text.length, 0);
	snapshot.site_count = 4;
	assert_true(survived_notice(&snapshot, &text));
	assert_non_null(strstr(text.data, "leaves out 2.0 MiB of processes in which no garbage"));
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_notice) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
