/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks of a census are taken for those of the cohort: truth is glibc's rule for chunks, by hand. And when the next one is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"
#include "windows/budget_census.h"
#include "unit/fake_image.h"

static bool is_same(const char *allocator, uint64_t asked, uint64_t seen)
{
	const struct cohort_block block = { .address = 4096, .size = asked };

	return budget_census_is_same(allocator, &block,
				     &(struct census_block){ .address = 4096, .size = seen });
}

/* 104 bytes are a chunk of 112, of 128 where 16 would be left over, or of 144 where memalign would leave 32. */
static void test_glibc(void **state)
{
	(void)state;
	assert_true(is_same("glibc", 104, 104) && is_same("glibc", 104, 120));
	assert_false(is_same("glibc", 104, 88));
	assert_true(is_same("glibc", 104, 136));
	assert_false(is_same("glibc", 104, 152));
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

#define WAIT_NS 20000000

/* Time on the clock that takes no CPU, as on a machine where others use it. */
static size_t read_late(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct timespec wait = { .tv_nsec = WAIT_NS };

	nanosleep(&wait, NULL);
	return fake_image_read(context, address, bytes, size);
}

/* It is the CPU time of a census that the next one waits for: 2 s, and 50 times as much. Of that, this thread used no more than in all. */
static void test_rest(void **state)
{
	const struct image_source late = { .read = read_late,
					   .mappings = fake_image_mappings,
					   .pages = fake_image_list };
	struct fake_image *fake = fake_image_new();
	struct budget_census_series series = { 0 };
	struct budget_cohort_set cohort = { 0 };
	uint64_t cpu_ns = clock_thread_ns(), end_ns;
	struct image *image;

	(void)state;
	fake_image_map(fake, 0x10000, 4 * FAKE_PAGE, "/usr/lib/libc.so.6",
		       FAKE_WRITABLE | FAKE_FILE);
	image = fake_image_open(fake);
	image->source = &late;
	budget_census_take(&series, image, &cohort, 1);
	end_ns = clock_now_ns();
	cpu_ns = clock_thread_ns() - cpu_ns;
	assert_true(fake->reads > 0);
	assert_true(series.next_ns <= end_ns + 2000000000 + 50 * cpu_ns);
	budget_census_free(&series);
	fake_image_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
