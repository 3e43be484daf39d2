/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mimalloc's census over a made-up heap, and over damaged copies of it. What is expected follows from the pages below, by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "unit/census_world.h"

#define DATA 0x7f0000001000ull
#define SEGMENT 0x7f2000000000ull
#define HUGE (SEGMENT + (32ull << 20))
#define HEAP 0x7f3000000000ull
#define COOKIE 0x1234567890abcdefull
#define SLICE 0x10000ull

/* As releases from 2.1 on have small blocks: not 384 bytes behind the slice's beginning, but one or three blocks. */
static bool is_2_1;

/* How many slices begin at `index`; the last one of several leads back. */
static void put_slices(struct census_world *world, uint64_t segment, unsigned int index,
		       unsigned int slices)
{
	census_put(world, segment + 264 + 80 * index, slices);
	if (slices > 1 && index + slices <= 512)
		census_put(world, segment + 264 + 80 * (index + slices - 1),
			   80ull * (slices - 1) << 32);
}

/* Blocks 0 to `available` of a page are in its list, the next ones in the local list, and so on. */
static void put_page(struct census_world *world, uint64_t segment, unsigned int index,
		     unsigned int slices, uint64_t size, unsigned int capacity,
		     const unsigned int lists[3])
{
	uint64_t at = segment + 264 + 80 * index, start = segment + SLICE * index, heads[3], first;
	unsigned int i, list, next = 0;

	if (is_2_1)
		start += size <= 64 ? 3 * size : size <= 512 ? size : 0;
	else if (size >= 8 && size <= 1024)
		start += 384;
	first = start;
	for (list = 0; list < 3; list++) {
		heads[list] = lists[list] ? start + next * size : 0;
		for (i = 0; i < lists[list]; i++, next++)
			census_put(world, start + next * size,
				   i + 1 < lists[list] ? start + (next + 1) * size : 0);
	}
	put_slices(world, segment, index, slices);
	census_put(world, at + 8,
		   (uint64_t)capacity << 16 | (segment + SLICE * (index + slices) - first) / size
						      << 32);
	census_put(world, at + 16, heads[0]);
	census_put(world, at + 24, (capacity - lists[0] - lists[1]) | size << 32);
	census_put(world, at + 32, heads[1]);
	census_put(world, at + 40, heads[2] | 2);
	fake_image_put_word(world->fake, at + 48, HEAP);
}

static void put_segment(struct census_world *world, uint64_t segment, uint64_t slices, bool huge)
{
	census_put(world, segment + 216, COOKIE ^ segment);
	census_put(world, segment + 224, slices);
	census_put(world, segment + 232, 1);
	census_put(world, segment + 240, huge);
	census_put(world, segment + 248, slices < 512 ? slices : 512);
	fake_image_put_word(world->fake, segment + 256, HEAP);
	census_put(world, segment + 264, 1);
}

#define LIVE_BLOCKS (100 - 30 + 20 - 1 + 16 - 1 + 1)
#define LIVE_BYTES ((100 - 30) * 64 + (20 - 1) * 2048 + (16 - 1) * 32768 + 600 * SLICE)

static void world_open(struct census_world *world)
{
	*world = (struct census_world){ .allocator = &heap_mimalloc, .fake = fake_image_new() };
	fake_image_map(world->fake, DATA, 0x1000, "/usr/lib/libmimalloc.so.2",
		       FAKE_WRITABLE | FAKE_FILE);
	fake_image_put_word(world->fake, DATA + 0x100, COOKIE);
	fake_image_map(world->fake, SEGMENT, 96ull << 20, "", FAKE_WRITABLE);
	fake_image_map(world->fake, HEAP, 0x2000, "", FAKE_WRITABLE);
	put_segment(world, SEGMENT, 512, false);
	put_page(world, SEGMENT, 1, 1, 64, 100, (const unsigned int[]){ 20, 7, 3 });
	put_page(world, SEGMENT, 2, 1, 2048, 20, (const unsigned int[]){ 0, 0, 0 });
	put_page(world, SEGMENT, 3, 8, 32768, 16, (const unsigned int[]){ 1, 0, 0 });
	put_slices(world, SEGMENT, 11, 501);
	put_segment(world, HUGE, 601, true);
	put_page(world, HUGE, 1, 600, 600 * SLICE, 1, (const unsigned int[]){ 0, 0, 0 });
	/* Another thread has freed the third block of the second page. */
	fake_image_put_word(world->fake, HEAP + 2840, SEGMENT + 2 * SLICE + 2 * 2048);
	world->image = fake_image_open(world->fake);
}

static void check_census(const char *version)
{
	struct census_world world;

	world_open(&world);
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(world.totals.version, version);
	assert_string_equal(census_remarks(&world), "");
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	assert_int_equal(world.bytes, LIVE_BYTES);
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS);
	assert_int_equal(world.totals.live_bytes, LIVE_BYTES);
	assert_int_equal(world.totals.mapped_blocks, 1);
	assert_int_equal(world.totals.arenas, 1);
	assert_int_equal(world.totals.bins_resident, 30 * 64 + 2048 + 32768);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

static void test_census(void **state)
{
	(void)state;
	check_census("2.0");
	is_2_1 = true;
	check_census("2.1");
	is_2_1 = false;
}

static void test_damaged(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_damage(&world, LIVE_BLOCKS, LIVE_BYTES, 5000);
	fake_image_free(world.fake);
}

/* All of the first page's blocks are freed when the walk has left it. */
static void free_first(struct census_world *world)
{
	put_page(world, SEGMENT, 1, 1, 64, 100, (const unsigned int[]){ 99, 0, 0 });
}

static void test_moving(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_move(&world, free_first, 75, LIVE_BLOCKS, CENSUS_MOVED);
}

/* A segment that was mapped meanwhile. */
static void map_segment(struct census_world *world)
{
	const uint64_t segment = SEGMENT + (96ull << 20);

	fake_image_map(world->fake, segment, 32ull << 20, "", FAKE_WRITABLE);
	put_segment(world, segment, 512, false);
	put_page(world, segment, 1, 1, 64, 10, (const unsigned int[]){ 0, 0, 0 });
	put_slices(world, segment, 2, 510);
}

static void test_growing(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_move(&world, map_segment, 75, LIVE_BLOCKS, CENSUS_GROWN);
}

/* One block in a hundred may come or go. */
static void free_one(struct census_world *world)
{
	put_page(world, SEGMENT, 1, 1, 64, 100, (const unsigned int[]){ 20, 8, 3 });
}

static void test_moving_little(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	world.move = free_one;
	world.move_at = 75;
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(census_remarks(&world), "");
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* Lists that go in circles, all slices pages of the smallest blocks: the walk ends. */
static void test_circles(void **state)
{
	struct census_world world;
	unsigned int i;

	(void)state;
	world_open(&world);
	for (i = 1; i < 512; i++) {
		uint64_t start = SEGMENT + SLICE * i + 384;

		put_page(&world, SEGMENT, i, 1, 8, 8000, (const unsigned int[]){ 3, 0, 0 });
		fake_image_put_word(world.fake, start + 16, start);
	}
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.remarks.length > 0);
	assert_true(world.totals.unknown_bytes > 500 * SLICE - 500 * 384);
	assert_true(world.fake->reads < 20000);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* Without the cookie in a module's data it is no mimalloc's, or not understood. */
static void test_refused(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	fake_image_put_word(world.fake, DATA + 0x100, COOKIE + 1);
	assert_int_equal(census_run(&world), -ENOTSUP);
	fake_image_put_word(world.fake, HUGE + 216, 1);
	assert_int_equal(census_run(&world), -ENOTSUP);
	assert_string_equal(world.reason.text,
			    "libmimalloc.so.2 is mapped, but no heap of it is understood");
	fake_image_free(world.fake);
}

/* Another release has other structures: its library is named. */
static void test_other_release(void **state)
{
	struct census_world world = { .allocator = &heap_mimalloc, .fake = fake_image_new() };

	(void)state;
	fake_image_map(world.fake, DATA, 0x1000, "/usr/lib/libmimalloc.so.2.0", FAKE_FILE);
	world.image = fake_image_open(world.fake);
	assert_int_equal(census_run(&world), -ENOTSUP);
	assert_string_equal(world.reason.text,
			    "libmimalloc.so.2.0 is mapped, but no heap of it is understood");
	fake_image_free(world.fake);
	/* Its heap may look like one of 2.0. */
	world_open(&world);
	fake_image_map(world.fake, DATA + 0x1000, 0x1000, "/usr/lib/libmimalloc.so.2.2", FAKE_FILE);
	fake_image_open(world.fake);
	assert_int_equal(census_run(&world), -ENOTSUP);
	assert_string_equal(
		world.reason.text,
		"libmimalloc.so.2.2 is mapped: only heaps of mimalloc 2.0 and 2.1 are understood");
	fake_image_free(world.fake);
}

/* By name it is of one release, by its pages of the other. */
static void test_other_form(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	fake_image_map(world.fake, DATA + 0x1000, 0x1000, "/usr/lib/libmimalloc.so.2.1", FAKE_FILE);
	fake_image_open(world.fake);
	assert_int_equal(census_run(&world), -ENOTSUP);
	assert_string_equal(world.reason.text,
			    "libmimalloc.so.2 is mapped, but no heap of it is understood");
	fake_image_free(world.fake);
}

/* Only large blocks, which are alike in both: it is not known how small ones would be, but by the library's name. */
static void test_alike(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	put_segment(&world, SEGMENT, 512, false);
	put_slices(&world, SEGMENT, 1, 1);
	fake_image_put_word(world.fake, SEGMENT + 264 + 80 + 8, 0);
	fake_image_put_word(world.fake, SEGMENT + 264 + 80 + 16, 0);
	fake_image_put_word(world.fake, SEGMENT + 264 + 80 + 24, 0);
	assert_int_equal(census_run(&world), -ENOTSUP);
	assert_string_equal(world.reason.text, "mimalloc's heap may be of two releases");
	fake_image_map(world.fake, DATA + 0x1000, 0x1000, "/usr/lib/libmimalloc.so.2.1", FAKE_FILE);
	fake_image_open(world.fake);
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(world.totals.version, "2.1");
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS - 70);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* A huge block was freed, and another segment is where its second one was: 600 slices are not all free. */
static void check_freed_huge(uint64_t block_size)
{
	struct census_world world;

	world_open(&world);
	fake_image_put_word(world.fake, HUGE + 264 + 80 + 8, 0);
	fake_image_put_word(world.fake, HUGE + 264 + 80 + 24, block_size << 32);
	put_segment(&world, HUGE + (32ull << 20), 512, false);
	put_page(&world, HUGE + (32ull << 20), 1, 511, 511 * SLICE, 1,
		 (const unsigned int[]){ 0, 0, 0 });
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(census_remarks(&world), "");
	assert_int_equal(world.totals.live_bytes, LIVE_BYTES - 600 * SLICE + 511 * SLICE);
	/* With the segments' own three slices: all of the 96 MB once. */
	assert_int_equal(world.totals.live_bytes + world.totals.free_bytes +
				 world.totals.overhead_bytes + 384,
			 96ull << 20);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

static void test_freed_huge(void **state)
{
	(void)state;
	check_freed_huge(0);
	check_freed_huge(1);
}

/* What a huge block has in it is the program's, even if it looks like a segment. */
static void test_inside_huge(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	put_segment(&world, HUGE + (32ull << 20), 512, false);
	put_page(&world, HUGE + (32ull << 20), 1, 511, 511 * SLICE, 1,
		 (const unsigned int[]){ 0, 0, 0 });
	assert_int_equal(census_run(&world), 0);
	assert_int_equal(world.totals.live_bytes, LIVE_BYTES);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_moving),	   cmocka_unit_test(test_moving_little),
		cmocka_unit_test(test_growing),	   cmocka_unit_test(test_other_release),

		cmocka_unit_test(test_circles),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_alike),	   cmocka_unit_test(test_freed_huge),
		cmocka_unit_test(test_other_form), cmocka_unit_test(test_inside_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
