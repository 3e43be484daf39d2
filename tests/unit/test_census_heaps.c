/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with two heaps at work, of which one is not recognized, or not walked, each time: the
 * figures of `memory`, the census of --light and --budget, and the blocks that `leaks` calls lost.
 * Truth: the two allocators of this test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "heap/census_all.h"
#include "heap/census_heaps.h"
#include "memory/leaks_pass.h"
#include "memory/memory_look.h"
#include "unit/fake_allocators.h"
#include "unit/fake_image.h"

#define FIRST 0x100000
#define SECOND 0x200000
#define HEAP_SIZE 0x10000
#define TRIES 4

static struct fake_image *fake;
static struct image *image;

static int set_up(void **state)
{
	(void)state;
	fake_allocators_reset();
	fake_heaps[0] = (struct fake_heap){ FIRST, FIRST + HEAP_SIZE, FIRST + 0x100, 64 };
	fake_heaps[1] = (struct fake_heap){ SECOND, SECOND + HEAP_SIZE, SECOND + 0x100, 128 };
	fake = fake_image_new();
	fake_image_map(fake, FIRST, HEAP_SIZE, "", FAKE_WRITABLE);
	fake_image_map(fake, SECOND, HEAP_SIZE, "", FAKE_WRITABLE);
	image = fake_image_open(fake);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake_open, 0);
	fake_image_free(fake);
	return 0;
}

/* The searches of one allocator, each with this code. */
static void refuse(size_t which, size_t first, size_t count, int code)
{
	while (count--)
		fake_finds[which][first++] = code;
}

static bool find(struct census_heaps *heaps)
{
	const struct thread_list threads = { 0 };

	return census_heaps_find(heaps, image, &threads, TRIES);
}

/* The one that is found is not searched again. */
static void test_a_refused_one_is_searched_again(void **state)
{
	struct census_heaps heaps;

	(void)state;
	refuse(1, 0, 2, -ENOTSUP);
	assert_true(find(&heaps));
	assert_int_equal(fake_found[0], 1);
	assert_int_equal(fake_found[1], 3);
	census_heaps_free(&heaps);
	refuse(1, 3, TRIES, -ENOTSUP);
	assert_false(find(&heaps));
	assert_int_equal(fake_found[1], 3 + TRIES);
	assert_int_equal(heaps.items[0].code, 0);
	assert_true(census_heap_is_refused(&heaps.items[1]));
	assert_string_equal(heaps.items[1].reason.text, "it changes");
	census_heaps_free(&heaps);
}

/* The search for an allocator that is not at work takes longest. */
static void test_what_was_never_there_is_searched_once(void **state)
{
	struct census_heaps heaps;

	(void)state;
	refuse(1, 0, 1, -ENOENT);
	assert_true(find(&heaps));
	assert_int_equal(fake_found[1], 1);
	assert_int_equal(heaps.items[1].code, -ENOENT);
	census_heaps_free(&heaps);
}

static void test_what_was_there_is_missed(void **state)
{
	struct census_heaps heaps;

	(void)state;
	assert_true(find(&heaps));
	census_heaps_free(&heaps);
	refuse(1, 1, 2, -ENOENT);
	assert_true(find(&heaps));
	assert_int_equal(fake_found[1], 4);
	census_heaps_free(&heaps);
	refuse(1, 4, TRIES, -ENOENT);
	assert_false(find(&heaps));
	assert_true(census_heap_is_refused(&heaps.items[1]));
	assert_non_null(strstr(heaps.items[1].reason.text, "found before"));
	census_heaps_free(&heaps);
}

static void test_none_is_searched_again(void **state)
{
	struct census_heaps heaps;

	(void)state;
	refuse(0, 0, TRIES, -ENOENT);
	refuse(1, 0, TRIES - 1, -ENOENT);
	assert_true(find(&heaps));
	assert_int_equal(fake_found[1], TRIES);
	census_heaps_free(&heaps);
	refuse(0, TRIES, TRIES, -ENOENT);
	refuse(1, TRIES, TRIES, -ENOENT);
	assert_false(find(&heaps));
	census_heaps_free(&heaps);
}

static void check_memory(size_t heaps, const char *remark)
{
	const struct memory_wanted wanted = { 0 };
	struct memory_report report = { 0 };

	memory_look_image(image, &wanted, &report);
	assert_int_equal(report.heap_count, heaps);
	if (remark)
		assert_non_null(strstr(report.remarks.data, remark));
	else
		assert_true(!report.remarks.data || !strstr(report.remarks.data, "second"));
	memory_report_free(&report);
}

static void test_memory_has_both(void **state)
{
	(void)state;
	refuse(1, 0, 1, -ENOTSUP);
	check_memory(2, NULL);
	refuse(1, fake_found[1], 2, -ENOENT);
	check_memory(2, NULL);
	refuse(1, fake_found[1], TRIES, -ENOENT);
	check_memory(1, "second: its heap was found before");
}

/* Blocks of a process are not all known where a heap is missing. */
static void test_memory_follows_no_blocks_without_a_heap(void **state)
{
	struct memory_wanted wanted = { .kept = memory_kept_new() };
	struct memory_report report = { 0 };

	(void)state;
	fake_walks[1][0] = -EIO;
	memory_look_image(image, &wanted, &report);
	assert_int_equal(report.heap_count, 1);
	assert_non_null(strstr(report.remarks.data, "second: its heap could not be walked"));
	assert_non_null(strstr(report.remarks.data, "Blocks are not followed"));
	memory_report_free(&report);
	memory_kept_free(wanted.kept);
}

static void count_block(void *context, const char *allocator, const struct census_block *block)
{
	size_t *count = context;

	(void)allocator;
	(void)block;
	++*count;
}

static void check_census(bool whole, size_t blocks)
{
	size_t count = 0;
	struct census_all all = { .block = count_block, .context = &count };

	assert_int_equal(census_all_walk(&all, image), whole);
	if (whole)
		assert_int_equal(count, blocks);
	assert_int_equal(all.live_blocks, count);
}

static void test_census_has_both(void **state)
{
	struct census_all all = { 0 };

	(void)state;
	refuse(1, 0, 1, -ENOTSUP);
	check_census(true, 2);
	refuse(1, fake_found[1], 1, -ENOENT);
	check_census(true, 2);
	refuse(1, fake_found[1], TRIES, -ENOENT);
	check_census(false, 0);
	refuse(1, fake_found[1], TRIES, -ENOTSUP);
	assert_false(census_all_walk(&all, image));
	assert_string_equal(all.reason.text, "it changes");
	fake_walks[1][fake_walked[1]] = -EIO;
	check_census(false, 0);
	check_census(true, 2);
}

/* The verdict of the second block, to which only free memory of the first heap leads. */
static enum leak_verdict judge_lost(void)
{
	const struct leaks_objects objects = { 0 };
	const struct leaks_wanted wanted = { .pid = getpid(), .max_memory = 1 << 30 };
	enum leak_verdict verdict = LEAK_VERDICTS;
	struct leaks_pass pass;
	struct error error = { 0 };
	size_t i;

	fake_image_put_word(fake, FIRST + 0x8000, SECOND + 0x100);
	assert_int_equal(leaks_pass_run(&pass, image, &wanted, &objects, REACH_UPWARD, &error), 0);
	assert_int_equal(pass.blocks.count, 2);
	for (i = 0; i < pass.blocks.count; i++)
		if (pass.blocks.items[i].address == SECOND + 0x100)
			verdict = (enum leak_verdict)pass.graph.nodes[i].verdict;
	leaks_pass_free(&pass);
	return verdict;
}

static void test_loss_is_seen(void **state)
{
	(void)state;
	assert_int_equal(judge_lost(), LEAK_STALE);
}

/* A heap that is not understood may hold it. */
static void test_vague_memory_holds(void **state)
{
	(void)state;
	fake_heaps[0].vague[0] = true;
	assert_int_equal(judge_lost(), LEAK_REACHABLE);
}

/* A listing that is given up claims nothing. */
static void test_loss_is_seen_after_a_listing_that_failed(void **state)
{
	(void)state;
	fake_heaps[0].vague[0] = true;
	fake_walks[1][0] = -EIO;
	assert_int_equal(judge_lost(), LEAK_STALE);
	assert_int_equal(fake_walked[1], 2);
}

/* Its blocks would be taken for memory that holds what they point to. */
static void test_leaks_waits_for_both(void **state)
{
	(void)state;
	refuse(1, 0, 3, -ENOTSUP);
	assert_int_equal(judge_lost(), LEAK_STALE);
	refuse(1, fake_found[1], 3, -ENOENT);
	assert_int_equal(judge_lost(), LEAK_STALE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_refused_one_is_searched_again),
		TEST(test_what_was_never_there_is_searched_once),
		TEST(test_what_was_there_is_missed),
		TEST(test_none_is_searched_again),
		TEST(test_memory_has_both),
		TEST(test_memory_follows_no_blocks_without_a_heap),
		TEST(test_census_has_both),
		TEST(test_loss_is_seen),
		TEST(test_vague_memory_holds),
		TEST(test_loss_is_seen_after_a_listing_that_failed),
		TEST(test_leaks_waits_for_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
