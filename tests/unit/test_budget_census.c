/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks of a census are taken for those of the cohort. Truth: glibc's rule for chunks, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/budget_census.h"

static bool is_same(const char *allocator, uint64_t asked, uint64_t seen)
{
	const struct cohort_block block = { .address = 4096, .size = asked };

	return budget_census_is_same(allocator, &block,
				     &(struct census_block){ .address = 4096, .size = seen });
}

/* 104 bytes are a chunk of 112, or of 128 where 16 would be left over. */
static void test_glibc(void **state)
{
	(void)state;
	assert_true(is_same("glibc", 104, 104) && is_same("glibc", 104, 120));
	assert_false(is_same("glibc", 104, 88));
	assert_false(is_same("glibc", 104, 136));
	assert_false(is_same("glibc", 104, 4088));
	assert_true(is_same("glibc", 1, 24) && is_same("glibc", 24, 24));
	assert_true(is_same("glibc", 25, 40) && is_same("glibc", 40, 40));
	assert_false(is_same("glibc", 25, 24));
}

/* Classes of other allocators are theirs; none is smaller than what was asked for. */
static void test_others(void **state)
{
	(void)state;
	assert_true(is_same("jemalloc", 100, 112) && is_same("musl", 100, 100));
	assert_false(is_same("jemalloc", 100, 96));
}

/* A mapping of its own, what realloc has added, and one whose size is known. */
static void test_exact(void **state)
{
	struct cohort_block block = { .address = 4096, .size = 200000 };
	struct census_block seen = { .address = 4096, .size = 200688, .mapped = true };

	(void)state;
	assert_true(budget_census_is_same("glibc", &block, &seen));
	seen.size = 1u << 30;
	assert_false(budget_census_is_same("glibc", &block, &seen));
	block = (struct cohort_block){ .address = 4096, .size = 16, .added = true };
	assert_true(budget_census_is_same("glibc", &block, &seen));
	block.sized = true;
	assert_false(budget_census_is_same("glibc", &block, &seen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
