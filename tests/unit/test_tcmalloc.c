/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcmalloc's census over a made-up heap, and over damaged copies of it. What is expected follows from the spans below, by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "unit/census_world.h"

#define DATA 0x7f0000001000ull
#define MB (1ull << 20)
#define ROOT (DATA + 0x40008)
#define CENTRAL (DATA + 0x2000)
#define CACHE 0x7f1000001000ull
#define CACHE_2 0x7f1000003000ull
#define RECORDS 0x7f1000008000ull
#define LEAF 0x7f1000200000ull
#define HEAP 0x7f2000000000ull
#define PAGE 8192ull
#define CLASSES 64

/* Classes have 8, 16, 24, ... bytes. */
static const struct span {
	uint64_t pages;
	unsigned int size_class, location, in_list; /* objects in the span's own list */
} spans[] = { { 1, 8, 0, 28 },	{ 3, 0, 0, 0 }, { 2, 0, 1, 0 },
	      { 1, 16, 0, 14 }, { 4, 0, 2, 0 }, { 1, 8, 0, 0 } };
#define SPANS (sizeof(spans) / sizeof(*spans))
/* In caches: three objects of 64 bytes, and a chain of 32 of them; two of 128 bytes. */
#define LIVE_BLOCKS (100 - 3 + 1 + 50 - 2 + 128 - 32)
#define LIVE_BYTES ((100 - 3 + 128 - 32) * 64 + 3 * PAGE + (50 - 2) * 128)

static uint64_t put_list(struct census_world *world, uint64_t start, uint64_t size,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		census_put(world, start + i * size, i + 1 < count ? start + (i + 1) * size : 0);
	return count ? start : 0;
}

static void put_cache(struct census_world *world, uint64_t at, uint64_t next)
{
	unsigned int i;

	for (i = 1; i < CLASSES; i++)
		fake_image_put_word(world->fake, at + 32 * i + 24, 8 * i);
	fake_image_put_word(world->fake, at + 32 * 128 + 64, next);
}

static void put_cached(struct census_world *world, uint64_t cache, unsigned int size_class,
		       uint64_t list, uint64_t length)
{
	census_put(world, cache + 32 * size_class, list);
	census_put(world, cache + 32 * size_class + 8, length);
}

static void put_spans(struct census_world *world)
{
	uint64_t page = HEAP / PAGE, i, k;

	for (i = 0; i < SPANS; i++) {
		const struct span *span = &spans[i];
		uint64_t record = RECORDS + 48 * i, size = 8 * span->size_class;
		uint64_t used = size ? PAGE / size - span->in_list : 0;

		census_put(world, record, page);
		census_put(world, record + 8, span->pages);
		census_put(world, record + 32, put_list(world, page * PAGE, size, span->in_list));
		census_put(world, record + 40,
			   used | span->size_class << 16 | span->location << 24);
		for (k = 0; k < span->pages; k++)
			census_put(world, LEAF + ((page + k) & 0x3ffff) * 8, record);
		page += span->pages;
	}
}

static void world_open(struct census_world *world)
{
	uint64_t i, last = HEAP + 11 * PAGE;

	*world = (struct census_world){ .allocator = &heap_tcmalloc, .fake = fake_image_new() };
	fake_image_map(world->fake, DATA, 0x1000, "/usr/lib/libtcmalloc.so.4",
		       FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(world->fake, DATA + 0x1000, 2 * MB, "", FAKE_WRITABLE);
	fake_image_map(world->fake, 0x7f1000000000ull, 6 * MB, "", FAKE_WRITABLE);
	fake_image_map(world->fake, HEAP, MB, "", FAKE_WRITABLE);
	census_put(world, ROOT + (HEAP / PAGE >> 18) * 8, LEAF);
	fake_image_put_word(world->fake, DATA + 0x80, CACHE);
	for (i = 1; i < 128; i++)
		fake_image_put_word(world->fake, CENTRAL + 1216 * i + 8, i);
	put_spans(world);
	put_cache(world, CACHE, CACHE_2);
	put_cache(world, CACHE_2, CACHE);
	put_cached(world, CACHE, 8, put_list(world, HEAP + 64 * 64, 64, 3), 3);
	put_cached(world, CACHE_2, 16, put_list(world, HEAP + 6 * PAGE + 20 * 128, 128, 2), 2);
	/* A chain of the first half. */
	census_put(world, CENTRAL + 1216 * 8 + 128, put_list(world, last + 64 * 40, 64, 32));
	census_put(world, CENTRAL + 1216 * 8 + 136, last + 64 * 71);
	census_put(world, CENTRAL + 1216 * 8 + 1152, 1);
	fake_image_absent(world->fake, HEAP + 4 * PAGE, PAGE);
	/* What nothing is in. */
	fake_image_absent(world->fake, DATA + 0x30000, 0x8f000);
	fake_image_absent(world->fake, DATA + 0xc1000, 0x140000);
	fake_image_absent(world->fake, LEAF + 0x1000, 2 * MB - 0x1000);
	world->image = fake_image_open(world->fake);
}

static void test_census(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(census_remarks(&world), "");
	assert_false(world.totals.counts_only);
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	assert_int_equal(world.bytes, LIVE_BYTES);
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS);
	assert_int_equal(world.totals.live_bytes, LIVE_BYTES);
	assert_int_equal(world.totals.threads, 2);
	assert_int_equal(world.totals.trim_bytes, PAGE);
	assert_int_equal(world.totals.thread_caches_resident, 3 * 64 + 2 * 128);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* A thread has taken an object meanwhile: blocks are counted, by counters, and none is named. */
static void test_at_work(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	fake_image_put_word(world.fake, CACHE + 32 * 8 + 8, 2);
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.counts_only);
	assert_true(world.totals.remarks.length > 0);
	assert_int_equal(world.blocks, 0);
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS + 1);
	assert_int_equal(world.totals.live_bytes, LIVE_BYTES + 64);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* Who asks for what there is gets all blocks, but those of the size whose list does not agree. */
static void test_partial(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	world.partial = true;
	assert_int_equal(census_run(&world), 0);
	assert_false(world.totals.counts_only);
	assert_false(world.totals.is_listed);
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	heap_totals_free(&world.totals);
	fake_image_put_word(world.fake, CACHE + 32 * 8 + 8, 2);
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.counts_only);
	assert_true(world.totals.is_listed);
	assert_int_equal(world.totals.moving_sizes, 1);
	assert_int_equal(world.totals.moving_bytes, 2 * PAGE);
	assert_int_equal(world.unknown_bytes, 2 * PAGE);
	assert_int_equal(world.blocks, 1 + 50 - 2);
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS + 1);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* What does not belong to a size keeps all blocks from being listed: a cache that is one but for a size. */
static void test_partial_odd(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	world.partial = true;
	fake_image_put_word(world.fake, CACHE_2 + 32 * 20 + 24, 8 * 20 + 8);
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.counts_only);
	assert_false(world.totals.is_listed);
	assert_int_equal(world.blocks, 0);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* A counter that changes a moment after its list. */
static void set_counter(struct fake_image *fake, uint64_t address)
{
	if (address == CACHE + 32 * 8)
		fake_image_put_word(fake, CACHE + 32 * 8 + 8, 3);
}

/* The first object of the list is taken, and cleared, and comes back: it looked like the end of the list. */
static void bring_back(struct fake_image *fake, uint64_t address)
{
	if (address == CACHE + 32 * 8)
		fake_image_put_word(fake, HEAP + 64 * 64, HEAP + 64 * 65);
}

/* It is taken for good. */
static void take_first(struct fake_image *fake, uint64_t address)
{
	if (address != CACHE + 32 * 8)
		return;
	fake_image_put_word(fake, CACHE + 32 * 8, HEAP + 64 * 65);
	fake_image_put_word(fake, CACHE + 32 * 8 + 8, 2);
}

static void check_followed_again(void (*on_read)(struct fake_image *, uint64_t), uint64_t place,
				 uint64_t word, uint64_t blocks)
{
	struct census_world world;

	world_open(&world);
	world.partial = true;
	fake_image_put_word(world.fake, place, word);
	world.fake->on_read = on_read;
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.counts_only);
	assert_true(world.totals.is_listed);
	assert_int_equal(world.totals.moving_sizes, 0);
	assert_int_equal(world.unknown_bytes, 0);
	assert_int_equal(world.blocks, blocks);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

static void test_followed_again(void **state)
{
	(void)state;
	check_followed_again(set_counter, CACHE + 32 * 8 + 8, 2, LIVE_BLOCKS);
	check_followed_again(set_counter, CACHE + 32 * 8 + 8, 9, LIVE_BLOCKS);
	check_followed_again(bring_back, HEAP + 64 * 64, 0, LIVE_BLOCKS);
	check_followed_again(bring_back, HEAP + 64 * 64, 0x123, LIVE_BLOCKS);
	check_followed_again(take_first, HEAP + 64 * 64, 0, LIVE_BLOCKS + 1);
	check_followed_again(take_first, HEAP + 64 * 64, HEAP + 64 * 90, LIVE_BLOCKS + 1);
}

/* A span that has become another one since its list was followed, and one that is large. */
static void change_spans(struct census_world *world)
{
	fake_image_put_word(world->fake, RECORDS + 48 * 3 + 40, 12 | 20 << 16);
	fake_image_put_word(world->fake, RECORDS + 48 + 40, 1 << 24);
}

static void test_other_spans(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	world.partial = true;
	world.move = change_spans;
	world.move_at = 1;
	fake_image_put_word(world.fake, CACHE + 32 * 8 + 8, 2);
	world.fake->on_read = set_counter;
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.is_listed);
	assert_int_equal(world.blocks, 100 - 3 + 128 - 32);
	assert_int_equal(world.unknown_bytes, 4 * PAGE);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* A span's objects are freed when the walk has left it: lists agreed when they were followed. */
static void free_objects(struct census_world *world)
{
	fake_image_put_word(world->fake, RECORDS + 40, 3 | 8 << 16);
}

static void test_moving(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_move(&world, free_objects, 120, LIVE_BLOCKS, CENSUS_MOVED);
}

static void end_time(struct census_world *world)
{
	world->fake->unlisted = HEAP;
}

/* There is no time to list all pages again at the walk's end: those that were listed before stay known. */
static void test_late(void **state)
{
	struct census_world world;
	size_t runs;

	(void)state;
	world_open(&world);
	runs = world.image->run_count;
	world.move = end_time;
	world.move_at = 120;
	assert_int_equal(census_run(&world), 0);
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	assert_false(world.image->pages_unknown);
	assert_int_equal(world.image->run_count, runs);
	assert_int_equal(image_page(world.image, HEAP), IMAGE_PRESENT);
	heap_totals_free(&world.totals);
	/* With time again, they are as they are now. */
	world.fake->unlisted = 0;
	fake_image_absent(world.fake, HEAP, 4096);
	assert_true(image_refresh(world.image));
	assert_int_equal(image_page(world.image, HEAP), 0);
	fake_image_free(world.fake);
}

static void test_damaged(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_damage(&world, LIVE_BLOCKS, LIVE_BYTES, 8000);
	fake_image_free(world.fake);
}

/* Lists that go in circles and are endless, a root full of one leaf: the walk ends. */
static void test_circles(void **state)
{
	struct census_world world;
	unsigned int i;

	(void)state;
	world_open(&world);
	fake_image_put_word(world.fake, HEAP + 64 * 66, HEAP + 64 * 64);
	fake_image_put_word(world.fake, CACHE + 32 * 8 + 8, 1 << 21);
	for (i = 0; i < 400; i++)
		fake_image_put_word(world.fake, ROOT + 0x7f000 + 8 * i, LEAF + 64 * i);
	fake_image_put_word(world.fake, ROOT + (HEAP / PAGE >> 18) * 8, LEAF);
	census_run(&world);
	assert_true(world.fake->reads < 100000);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* A list that begins with, or leads to, an address on the first page: it is broken, and nothing is read there. */
static void test_first_page(void **state)
{
	const uint64_t places[] = { CACHE + 32 * 8, HEAP + 64 * 64 };
	const uint64_t values[] = { HEAP + 64 * 64, HEAP + 64 * 65 };
	const uint64_t small[] = { 8, 0xff8 };
	struct census_world world;
	unsigned int i;

	(void)state;
	world_open(&world);
	for (i = 0; i < 4; i++) {
		fake_image_put_word(world.fake, places[i / 2], small[i % 2]);
		assert_int_equal(census_run(&world), 0);
		assert_true(world.totals.counts_only);
		assert_true(world.totals.remarks.length > 0);
		assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS);
		heap_totals_free(&world.totals);
		fake_image_put_word(world.fake, places[i / 2], values[i / 2]);
	}
	fake_image_free(world.fake);
}

/* A tree without the lists beside it is refused; without a tree it is not tcmalloc. */
static void test_refused(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	fake_image_put_word(world.fake, CENTRAL + 1216 + 8, 2);
	assert_int_equal(census_run(&world), -ENOTSUP);
	fake_image_put_word(world.fake, ROOT + (HEAP / PAGE >> 18) * 8, 0);
	assert_int_equal(census_run(&world), -ENOENT);
	fake_image_free(world.fake);
}

/* Pointers to objects of 120 bytes, in the data of a module. */
#define POINTERS 200000
#define OBJECTS 0x7f4000000000ull

static void put_pointers(struct fake_image *fake, uint64_t array)
{
	uint64_t i;

	fake_image_map(fake, OBJECTS, POINTERS * 128 / 4096 * 4096, "", FAKE_WRITABLE);
	for (i = 0; i < POINTERS; i++)
		fake_image_put_word(fake, array + 8 * i, OBJECTS + 120 * i);
}

/* A program without tcmalloc, and a large array of pointers: it is read, and none of them is followed but a few. */
static void test_pointers(void **state)
{
	const struct heap_allocator *const allocators[] = { &heap_tcmalloc, &heap_jemalloc };
	struct census_world world = { .fake = fake_image_new() };
	size_t i, before;

	(void)state;
	fake_image_map(world.fake, DATA, 0x1000, "/usr/bin/program", FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(world.fake, DATA + 0x1000, 8 * MB, "", FAKE_WRITABLE);
	put_pointers(world.fake, DATA + 0x8000);
	world.image = fake_image_open(world.fake);
	for (i = 0; i < 2; i++) {
		world.allocator = allocators[i];
		before = world.fake->reads;
		assert_int_equal(census_run(&world), -ENOENT);
		assert_in_range(world.fake->reads - before, 1, 3000);
	}
	fake_image_free(world.fake);
}

/* The same array in a program that has tcmalloc in it, before its root: all is found as without, and no more is followed. */
static void test_pointers_beside(void **state)
{
	struct census_world world;
	size_t before;

	(void)state;
	world_open(&world);
	fake_image_map(world.fake, DATA - 4 * MB, 0x1000, "/usr/bin/program",
		       FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(world.fake, DATA - 4 * MB + 0x1000, 4 * MB - 0x1000, "", FAKE_WRITABLE);
	put_pointers(world.fake, DATA - 3 * MB);
	fake_image_open(world.fake);
	before = world.fake->reads;
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(census_remarks(&world), "");
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	assert_in_range(world.fake->reads - before, 1, 11000);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),		cmocka_unit_test(test_at_work),
		cmocka_unit_test(test_damaged),		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_refused),		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_pointers_beside), cmocka_unit_test(test_moving),
		cmocka_unit_test(test_first_page),	cmocka_unit_test(test_late),
		cmocka_unit_test(test_partial),		cmocka_unit_test(test_partial_odd),
		cmocka_unit_test(test_followed_again),	cmocka_unit_test(test_other_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
