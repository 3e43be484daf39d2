/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a CPython heap that is made up: pools with free chains, types, sizes; and heaps that lie. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "python/python_pool.h"
#include "python/python_text.h"
#include "python_world.h"

struct look {
	struct python_heap *heap;
	struct python_objects objects;
	struct strings names;
	struct memory_runtime runtime;
	bool samples;
};

static struct look *look_at(struct python_world *world)
{
	struct look *look = memory_alloc(1, sizeof(*look));
	struct error reason = { 0 };

	assert_int_equal(python_heap_find(fake_image_open(world->fake), &look->heap, &reason), 0);
	python_objects_walk(look->heap, NULL, &look->objects);
	python_objects_walk_blocks(look->heap, &look->objects);
	python_objects_report(look->heap, &look->objects, look->samples, &look->names,
			      &look->runtime);
	return look;
}

static void look_again(struct look *look)
{
	memory_runtime_free(&look->runtime);
	look->runtime = (struct memory_runtime){ 0 };
	python_objects_walk(look->heap, NULL, &look->objects);
	python_objects_walk_blocks(look->heap, &look->objects);
	python_objects_report(look->heap, &look->objects, look->samples, &look->names,
			      &look->runtime);
}

static void look_end(struct look *look)
{
	memory_runtime_free(&look->runtime);
	strings_free(&look->names);
	python_heap_free(look->heap);
	free(look);
}

static struct memory_class look_class(const struct look *look, const char *name)
{
	size_t i;

	for (i = 0; i < look->runtime.class_count; i++)
		if (!strcmp(look->runtime.classes[i].name, name))
			return look->runtime.classes[i];
	return (struct memory_class){ 0 };
}

/* Objects are counted by type, freed ones are not, whether they were the last or not. */
static void test_counts(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t number = world_type(world, "int", 0, 24),
		 pair = world_type(world, "pair", WORLD_GC, 32);
	uint64_t small = world_pool(world, 0, 32), large = world_pool(world, 1, 64), gone[3];
	struct look *look;
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		world_object(world, small, 0, number);
	for (i = 0; i < 3; i++)
		gone[i] = world_object(world, small, 0, number);
	world_give(world, gone[1]);
	world_give(world, gone[0]);
	for (i = 0; i < 7; i++)
		world_object(world, large, 16, pair);
	look = look_at(world);
	assert_string_equal(look->runtime.version, "3.11");
	assert_int_equal(look_class(look, "int").live, 101);
	assert_int_equal(look_class(look, "int").slot_bytes, 101 * 32);
	assert_int_equal(look_class(look, "pair").live, 7);
	assert_int_equal(look->runtime.pages, 1);
	assert_int_equal(look->runtime.page_bytes, 2 * 0x4000);
	assert_int_equal(look->runtime.slots, (0x4000 - 48) / 32 + (0x4000 - 48) / 64);
	assert_int_equal(look->runtime.slots - look->runtime.free_slots, 108);
	assert_int_equal(look->runtime.sparse_pages, 0);
	assert_null(look->runtime.remarks.data);
	look_end(look);
	world_free(world);
}

/* An arena of which next to nothing is in use is sparse; a pool that is all free is a pool. */
static void test_sparse(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t number = world_type(world, "int", 0, 24), pool = 0;
	struct look *look;
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		pool = world_pool(world, i, 32);
		world_give(world, world_take(world, pool));
	}
	world_object(world, pool, 0, number);
	look = look_at(world);
	assert_int_equal(look->runtime.page_bytes, 10 * 0x4000);
	assert_int_equal(look->runtime.sparse_pages, 1);
	assert_int_equal(look->runtime.free_bytes, 10 * 0x4000 - 32);
	assert_int_equal(look_class(look, "int").live, 1);
	look_end(look);
	world_free(world);
}

/* Pools of 3.9 have 4 KB. */
static void test_small_pools(void **state)
{
	struct python_world *world = world_new("/usr/bin/python3.9");
	uint64_t number = world_type(world, "int", 0, 24);
	struct look *look;
	unsigned int i;

	(void)state;
	world->pool_size = 0x1000;
	for (i = 0; i < 5; i++)
		world_object(world, world_pool(world, i * 2, 32), 0, number);
	look = look_at(world);
	assert_int_equal(look_class(look, "int").live, 5);
	assert_int_equal(look->runtime.page_bytes, 5 * 0x1000);
	look_end(look);
	world_free(world);
}

/* What of a pool was never written to need not be there; what is swapped out is not brought in, and the pool is left out. */
static void test_absent(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t number = world_type(world, "int", 0, 24), pools[3];
	struct look *look;
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		pools[i] = world_pool(world, (unsigned int)i, 32);
		world_object(world, pools[i], 0, number);
	}
	fake_image_absent(world->fake, pools[0] + 0x1000, 0x3000);
	fake_image_swapped(world->fake, pools[1] + 0x3000, 0x1000);
	look = look_at(world);
	assert_int_equal(look_class(look, "int").live, 2);
	assert_int_equal(look->objects.unread_pools, 1);
	assert_non_null(
		strstr(look->runtime.remarks.data, "not in memory, and not counted: 1 of 3 pools"));
	look_end(look);
	world_free(world);
}

static void check_torn(uint64_t free_block, uint32_t used)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t number = world_type(world, "int", 0, 24), pool = world_pool(world, 0, 32), gone;
	struct look *look;
	int i;

	for (i = 0; i < 10; i++)
		world_object(world, pool, 0, number);
	gone = world_object(world, pool, 0, number);
	world_object(world, pool, 0, number);
	world_give(world, gone);
	if (free_block)
		fake_image_put_word(world->fake, gone, free_block == 1 ? gone : free_block);
	if (used)
		world_put_half(world, pool, used);
	look = look_at(world);
	assert_int_equal(look->objects.torn_pools, 1);
	assert_int_equal(look_class(look, "int").live, 0);
	assert_non_null(strstr(look->runtime.remarks.data, "1 of 1 pool changed"));
	look_end(look);
	world_free(world);
}

/* Free chains that run in a circle, astray, between blocks, or into what was never used; counts that lie. */
static void test_torn(void **state)
{
	(void)state;
	check_torn(1, 0);
	check_torn(0xdeadbeef, 0);
	check_torn(WORLD_ARENA + 48 + 8, 0);
	check_torn(WORLD_ARENA + 8, 0);
	check_torn(WORLD_ARENA + 48 + 32 * 400, 0);
	check_torn(UINT64_MAX, 0);
	check_torn(0, 5);
	check_torn(0, 12);
}

/* Headers that are none. */
static void test_headers(void **state)
{
	unsigned char good[48] = { 3 }, bytes[48];
	struct python_pool pool;
	const struct {
		int at;
		uint32_t half;
	} bad[] = {
		{ 0, 8 },   { 0, UINT32_MAX }, { 8, 1 },   { 12, 1 }, { 36, 32 },     { 36, 0 },
		{ 40, 48 }, { 40, 0x5000 },    { 40, 49 }, { 40, 0 }, { 44, 0x3fff }, { 44, 0 }
	};
	uint32_t halves[] = { 1, 48 + 7 * 32, 0x4000 - 32 };
	size_t i;

	(void)state;
	memcpy(good + 36, halves, sizeof(halves));
	assert_true(python_pool_read_header(good, 0x10000, 0x4000, &pool));
	assert_int_equal(pool.block_size, 32);
	assert_int_equal(pool.reached, 7);
	assert_int_equal(pool.used, 3);
	assert_false(python_pool_read_header(good, 0x10000, 0x1000, &pool));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(bytes, good, sizeof(bytes));
		memcpy(bytes + bad[i].at, &bad[i].half, 4);
		assert_false(python_pool_read_header(bytes, 0x10000, 0x4000, &pool));
	}
}

/*
 * No objects: freed ones, which have no references; a count that is an address; a head that the type does not have; a block smaller
 * than the type's objects; types in pools, and types whose types are none, or each other's.
 */
static void test_no_objects(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t number = world_type(world, "int", 0, 24), wide = world_type(world, "wide", 0, 40);
	uint64_t one = world_type(world, "one", 1ull << 31, 40),
		 two = world_type(world, "two", 1ull << 31, 40);
	uint64_t odd = world_type(world, "no name\n", 0, 16), pool = world_pool(world, 0, 32);
	struct look *look;

	(void)state;
	fake_image_put_word(world->fake, one + 8, two);
	fake_image_put_word(world->fake, two + 8, one);
	fake_image_put_word(world->fake, world_object(world, pool, 0, number), 0);
	fake_image_put_word(world->fake, world_object(world, pool, 0, number), WORLD_ARENA);
	world_object(world, pool, 16, number);
	world_object(world, pool, 0, wide);
	world_object(world, pool, 0, one);
	world_object(world, pool, 0, odd);
	world_object(world, pool, 0, WORLD_ARENA + 0x100);
	world_object(world, pool, 0, number + 8);
	world_object(world, pool, 0, UINT64_MAX);
	look = look_at(world);
	assert_int_equal(look->objects.objects, 0);
	assert_int_equal(look->objects.raw_blocks, 9);
	look_end(look);
	world_free(world);
}

/*
 * Where addresses are as low as counts of references are: arrays in which an object, which is anywhere in writable memory, is followed by a type
 * are none. Counts that lead nowhere, into code, or between two words, and those of what is never freed, are counts.
 */
static void test_low_addresses(void **state)
{
	static const uint64_t counts[] = { WORLD_TYPES + 1, WORLD_HEAP + 4, 0x400000, 0x800000,
					   3ull << 30 };
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t cell = world_type(world, "cell", WORLD_GC, 24),
		 number = world_type(world, "int", 0, 24);
	uint64_t pool = world_pool(world, 0, 48),
		 items[5] = { WORLD_TYPES, number, WORLD_HEAP, cell, WORLD_HEAP };
	struct look *look;
	size_t i;

	(void)state;
	fake_image_map(world->fake, 0x400000, 0x1000, WORLD_LIBRARY, FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(world->fake, 3ull << 30, 0x1000, "", FAKE_WRITABLE);
	for (i = 0; i < 10; i++)
		fake_image_put(world->fake, world_take(world, pool), items, sizeof(items));
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fake_image_put_word(world->fake, world_object(world, pool, 16, cell), counts[i]);
	look = look_at(world);
	assert_int_equal(look_class(look, "int").live, 0);
	assert_int_equal(look_class(look, "cell").live, 5);
	assert_int_equal(look->objects.raw_blocks, 10);
	look_end(look);
	world_free(world);
}

/* Pools of another size are none; pools in which next to nothing is an object are remarked on, as with a debugging allocator's words before each. */
static void test_strange(void **state)
{
	struct python_world *world = world_new("/usr/bin/python3.9");
	uint64_t number = world_type(world, "int", 0, 24), pool = world_pool(world, 0, 32);
	struct look *look;
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		world_object(world, pool, 0, number);
	look = look_at(world);
	assert_int_equal(look->heap->pool_count, 0);
	assert_int_equal(look->objects.objects, 0);
	look_end(look);
	world_free(world);
	world = world_new(WORLD_LIBRARY);
	number = world_type(world, "int", 0, 24);
	pool = world_pool(world, 0, 32);
	for (i = 0; i < 500; i++)
		world_object(world, pool, i < 10 ? 0 : 16, number);
	look = look_at(world);
	assert_null(look->runtime.remarks.data);
	for (i = 0; i < 10; i++)
		fake_image_put_word(world->fake, pool + 48 + (uint64_t)i * 32, 0);
	look_again(look);
	assert_non_null(strstr(look->runtime.remarks.data, "its layout is not known"));
	look_end(look);
	world_free(world);
}

/* A class of a metaclass is a type; its name is that of its module and its own, made safe. */
static void test_names(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t meta = world_type(world, "Meta", 1ull << 31, 880), class;
	uint64_t pool = world_pool(world, 0, 64);
	const uint64_t entries[][2] = {
		{ world_str(world, "__doc__"), world_str(world, "nothing") },
		{ world_str(world, "__module__"), world_str(world, "shop.\033[2Jcart") },
	};
	struct look *look;

	(void)state;
	class = world_type(world, "Inner", WORLD_HEAP_TYPE | WORLD_GC, 24);
	fake_image_put_word(world->fake, class + 8, meta);
	fake_image_put_word(world->fake, class + 264, world_dict(world, entries, 2));
	fake_image_put_word(world->fake, class + 864, world_str(world, "Cart.Inner"));
	world_object(world, pool, 16, class);
	look = look_at(world);
	assert_int_equal(look_class(look, "shop.\\x1b[2Jcart.Cart.Inner").live, 1);
	look_end(look);
	world_free(world);
}

/*
 * The names of each class are read once: 10 reads of its memory are enough for it, with those that show it to be a type. Who asks again gets
 * what was read.
 */
static void test_name_reads(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	const unsigned int count = 20;
	uint64_t key, module, class, pool = world_pool(world, 0, 64);
	const struct table_slot *slot;
	struct look *look;
	size_t before, reads, cursor = 0;
	char name[16];
	unsigned int i;

	(void)state;
	key = world_str(world, "__module__");
	module = world_str(world, "shop");
	for (i = 0; i < count; i++) {
		const uint64_t entries[][2] = { { key, module } };

		snprintf(name, sizeof(name), "Class%u", i);
		class = world_type(world, name, WORLD_HEAP_TYPE | WORLD_GC, 24);
		fake_image_put_word(world->fake, class + 264, world_dict(world, entries, 1));
		fake_image_put_word(world->fake, class + 864, world_str(world, name));
		world_object(world, pool, 16, class);
	}
	before = world->fake->reads;
	look = look_at(world);
	reads = world->fake->reads - before;
	assert_in_range(reads, count, 30 + 10 * count);
	assert_int_equal(look_class(look, "shop.Class19").live, 1);
	before = world->fake->reads;
	while ((slot = table_next(&look->heap->types.by_address, &cursor)))
		assert_non_null(python_type_describe(&look->heap->types, slot->value));
	assert_int_equal(world->fake->reads, before);
	look_end(look);
	world_free(world);
}

/* A page is not there for a moment: of a class, of its name, of the names that it and its module have, of a pool. */
static void test_moving(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t entries[][2] = { { 0, 0 } }, pages[6], class, pool;
	struct look *look;
	size_t i;

	(void)state;
	world->next_type += 0x1000;
	world->next_text += 0x1000;
	class = world_type(world, "Inner", WORLD_HEAP_TYPE | WORLD_GC, 24);
	entries[0][0] = world_str(world, "__module__");
	world->next_heap = WORLD_HEAP + 0x2000;
	entries[0][1] = world_str(world, "shop");
	world->next_heap = WORLD_HEAP + 0x4000;
	fake_image_put_word(world->fake, class + 264, world_dict(world, entries, 1));
	world->next_heap = WORLD_HEAP + 0x6000;
	fake_image_put_word(world->fake, class + 864, world_str(world, "Inner"));
	pool = world_pool(world, 0, 64);
	world_object(world, pool, 16, class);
	memcpy(pages,
	       (uint64_t[]){ class, WORLD_TEXTS + 0x1000, WORLD_HEAP + 0x2000, WORLD_HEAP + 0x4000,
			     WORLD_HEAP + 0x6000, pool },
	       sizeof(pages));
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		world->fake->moving = pages[i];
		world->fake->moving_reads = 3;
		look = look_at(world);
		assert_int_equal(world->fake->moving_reads, 0);
		assert_int_equal(look_class(look, "shop.Inner").live, 1);
		look_end(look);
	}
	world_free(world);
}

/* The same of blocks of malloc's, one of which lies on two pages. */
static void test_moving_blocks(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t bytes = world_type(world, "bytes", 1ull << 27, 33);
	uint64_t blocks[2] = { WORLD_HEAP + 0x1000, WORLD_HEAP + 0x2ff8 }, page;
	struct look *look = look_at(world);
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fake_image_put_word(world->fake, blocks[i], 2);
		fake_image_put_word(world->fake, blocks[i] + 8, bytes);
		python_blocks_add(&look->heap->large, blocks[i], 600);
	}
	for (page = WORLD_HEAP + 0x1000; page <= WORLD_HEAP + 0x3000; page += 0x1000) {
		world->fake->moving = page;
		world->fake->moving_reads = 3;
		look_again(look);
		assert_int_equal(world->fake->moving_reads, 0);
		assert_int_equal(look_class(look, "bytes").live, 2);
	}
	look_end(look);
	world_free(world);
}

/* Items of lists and tables of sets, and counts of them that no memory holds. */
static void test_sizes(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t list = world_type(world, "list", WORLD_GC | 1ull << 25, 40);
	uint64_t set = world_type(world, "set", WORLD_GC, 200),
		 dict = world_type(world, "dict", WORLD_GC | 1ull << 29, 48);
	uint64_t lists = world_pool(world, 0, 64), sets = world_pool(world, 1, 224),
		 keys = world_pool(world, 2, 176);
	struct look *look;

	(void)state;
	fake_image_put_word(world->fake, world_object(world, lists, 16, list) + 32, 10);
	fake_image_put_word(world->fake, world_object(world, lists, 16, list) + 32, 1ull << 63);
	fake_image_put_word(world->fake, world_object(world, sets, 16, set) + 32, 7);
	fake_image_put_word(world->fake, world_object(world, sets, 16, set) + 32, 31);
	fake_image_put_word(world->fake, world_object(world, sets, 16, set) + 32, UINT64_MAX);
	fake_image_put_word(world->fake, world_object(world, lists, 16, dict) + 32,
			    world_take(world, keys));
	fake_image_put_word(world->fake, world_object(world, lists, 16, dict) + 32,
			    world_dict(world, NULL, 0) + 48);
	look = look_at(world);
	assert_int_equal(look_class(look, "list").live, 2);
	assert_int_equal(look_class(look, "list").other_bytes, 80);
	assert_int_equal(look_class(look, "set").other_bytes, 32 * 16);
	assert_int_equal(look_class(look, "dict").live, 2);
	assert_int_equal(look_class(look, "dict").other_bytes, 176 + 32 + 32 + 20 * 16);
	look_end(look);
	world_free(world);
}

/* Blocks of malloc's: those that hold an object; those that are not in memory, too small, or lies. */
static void test_blocks(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t bytes = world_type(world, "bytes", 1ull << 27, 33), at = WORLD_HEAP + 0x1000;
	struct python_heap *heap;
	struct look *look;

	(void)state;
	fake_image_put_word(world->fake, at, 2);
	fake_image_put_word(world->fake, at + 8, bytes);
	fake_image_put_word(world->fake, at + 0x2ff0, 2);
	fake_image_put_word(world->fake, at + 0x2ff8, bytes);
	look = look_at(world);
	heap = look->heap;
	python_blocks_add(&heap->large, 0x10, 4096);
	python_blocks_add(&heap->large, at + 0x1000, 4096);
	python_blocks_add(&heap->large, at + 0x2ff0, 16);
	python_blocks_add(&heap->large, at, 4096);
	python_blocks_add(&heap->large, at, UINT64_MAX);
	python_blocks_add(&heap->large, at + 0x4000, 1ull << 63);
	python_blocks_sort(&heap->large);
	assert_int_equal(heap->large.count, 4);
	python_objects_walk_blocks(heap, &look->objects);
	assert_int_equal(look->objects.objects, 1);
	assert_int_equal(look->objects.raw_blocks, 2);
	assert_int_equal(python_heap_room(heap, at + 4095), 4096);
	assert_int_equal(python_heap_room(heap, at + 0x2ff0 + 16), 0);
	assert_int_equal(python_heap_room(heap, WORLD_ARENA + 48), 0);
	look_end(look);
	world_free(world);
}

/* Keys of a dict and values of attributes that malloc has count with their block. */
static void test_tables(void **state)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t dict = world_type(world, "dict", WORLD_GC | 1ull << 29, 48);
	uint64_t pool = world_pool(world, 0, 64), one, two;
	const uint64_t keys = WORLD_HEAP + 0x1000, values = WORLD_HEAP + 0x2000;
	struct look *look;

	(void)state;
	one = world_object(world, pool, 16, dict);
	two = world_object(world, pool, 16, dict);
	fake_image_put_word(world->fake, keys + 8, UINT64_MAX);
	fake_image_put_word(world->fake, one + 32, keys);
	fake_image_put_word(world->fake, two + 32, keys);
	fake_image_put_word(world->fake, two + 40, values + 16);
	look = look_at(world);
	assert_int_equal(look_class(look, "dict").other_bytes, 0);
	python_blocks_add(&look->heap->large, values, 96);
	python_blocks_add(&look->heap->large, keys, 1200);
	python_blocks_sort(&look->heap->large);
	look_again(look);
	assert_int_equal(look_class(look, "dict").other_bytes, 1200 + 96);
	look_end(look);
	world_free(world);
}

static void expect_longest(const struct look *look, size_t at, const char *kind, uint64_t length,
			   uint64_t bytes, const char *sample)
{
	const struct memory_longest *row = &look->runtime.longest[at];

	assert_true(at < look->runtime.longest_count);
	assert_string_equal(row->kind, kind);
	assert_int_equal(row->length, length);
	assert_int_equal(row->bytes, bytes);
	if (sample)
		assert_string_equal(row->sample, sample);
	else
		assert_null(row->sample);
}

/* The three longest of each kind, by length; those that take little are not kept, nor those whose length is a lie. */
static void test_longest(void **state)
{
	static const uint64_t lengths[] = { 600, 1000, 20, 5000, UINT64_MAX, 1ull << 63, 900 };
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t list = world_type(world, "list", WORLD_GC | 1ull << 25, 40), object, at;
	uint64_t str = world_type(world, "str", 1ull << 28, 80), pool = world_pool(world, 0, 64);
	struct look *look;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		object = world_object(world, pool, 16, list);
		fake_image_put_word(world->fake, object + 16, lengths[i]);
		fake_image_put_word(world->fake, object + 32, lengths[i]);
	}
	world->next_heap = at = WORLD_HEAP + 0x2000;
	world_str(world, "secret\033");
	fake_image_put_word(world->fake, at, 1);
	fake_image_put_word(world->fake, at + 8, str);
	look = look_at(world);
	python_blocks_add(&look->heap->large, at, 8000);
	for (i = 0; i < 2; i++) {
		look->samples = i;
		look_again(look);
		assert_int_equal(look->runtime.longest_count, 4);
		expect_longest(look, 1, "list", 5000, 64 + 40000, NULL);
		expect_longest(look, 2, "list", 1000, 64 + 8000, NULL);
		expect_longest(look, 3, "list", 900, 64 + 7200, NULL);
		expect_longest(look, 0, "str", 7, 8000, i ? "secret\\x1b" : NULL);
	}
	look_end(look);
	world_free(world);
}

static void check_code(const char *library, uint32_t file, uint32_t lines, uint32_t instructions)
{
	struct python_world *world = world_new(library);
	uint64_t code = world_type(world, "code", 0, 176), pool = world_pool(world, 0, 192), object;
	uint64_t table = world_take(world, world_pool(world, 1, 64)), path;
	struct look *look;
	int i;

	path = world_str(world, "/app/\033shop.py");
	for (i = 0; i < 3; i++) {
		object = world_object(world, pool, 0, code);
		fake_image_put_word(world->fake, object + file, path);
		fake_image_put_word(world->fake, object + lines, table);
		if (instructions)
			fake_image_put_word(world->fake, object + instructions, table);
	}
	world_object(world, pool, 0, code);
	look = look_at(world);
	assert_int_equal(look->runtime.file_count, 2);
	assert_string_equal(look->runtime.files[0].name, "/app/\\x1bshop.py");
	assert_int_equal(look->runtime.files[0].live, 3);
	assert_int_equal(look->runtime.files[0].other_bytes,
			 3 * (192 + 64 + (instructions ? 64 : 0)));
	assert_string_equal(look->runtime.files[1].name, "(no name)");
	look_end(look);
	world_free(world);
}

/* Code by file, of releases that differ. Before 3.11 instructions are apart. */
static void test_code(void **state)
{
	(void)state;
	check_code("/usr/bin/python3.10", 104, 120, 48);
	check_code(WORLD_LIBRARY, 112, 136, 0);
}

/* The collector's lists, at any place in the interpreter's state; its figures are behind them, and maybe behind half a word. */
static void check_collector(unsigned int padding)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t runtime = WORLD_DATA + 0x1000, lists = WORLD_HEAP + 0x4000 + 676, i;
	const uint64_t collections[] = { 90, 8, 2 };
	struct look *look;

	world_export(world, "_PyRuntime", runtime);
	fake_image_put_word(world->fake, runtime + 40, WORLD_HEAP + 0x4000);
	fake_image_absent(world->fake, WORLD_HEAP + 0x6000, 0x1000);
	look = look_at(world);
	assert_true(look->runtime.minor_gcs == HEAP_UNKNOWN);
	look_end(look);
	for (i = 0; i < 3; i++) {
		fake_image_put_word(world->fake, lists + i * 24, lists + i * 24);
		fake_image_put_word(world->fake, lists + i * 24 + 8, lists + i * 24);
		world_put_half(world, lists + i * 24 + 16, 700);
		fake_image_put_word(world->fake, lists + 104 + padding + i * 24, collections[i]);
	}
	fake_image_put_word(world->fake, lists + 72 + padding, lists);
	look = look_at(world);
	assert_int_equal(look->runtime.minor_gcs, 98);
	assert_int_equal(look->runtime.major_gcs, 2);
	assert_int_equal(look->runtime.gc_thresholds[0], 700);
	assert_non_null(strstr(look->runtime.remarks.data, "collector is off"));
	look_end(look);
	world_put_half(world, lists - 8, 1);
	look = look_at(world);
	assert_null(look->runtime.remarks.data);
	look_end(look);
	world_free(world);
}

static void test_collector(void **state)
{
	(void)state;
	check_collector(0);
	check_collector(4);
}

/* How many collections are seen with the first object, or the last one, of a generation where there is no mapping. */
static uint64_t collections_with(unsigned int generation, unsigned int link)
{
	struct python_world *world = world_new(WORLD_LIBRARY);
	uint64_t runtime = WORLD_DATA + 0x1000, lists = WORLD_HEAP + 0x4000 + 676, i, found;
	uint64_t head = lists + generation * 24, other = WORLD_HEAP + 0x7000;
	struct look *look;

	world_export(world, "_PyRuntime", runtime);
	fake_image_put_word(world->fake, runtime + 40, WORLD_HEAP + 0x4000);
	for (i = 0; i < 3; i++) {
		fake_image_put_word(world->fake, lists + i * 24, lists + i * 24);
		fake_image_put_word(world->fake, lists + i * 24 + 8, lists + i * 24);
		world_put_half(world, lists + i * 24 + 16, 700);
		fake_image_put_word(world->fake, lists + 104 + i * 24, i);
	}
	fake_image_put_word(world->fake, lists + 72, lists);
	fake_image_put_word(world->fake, head + link, 0x7f1234567000ull);
	fake_image_put_word(world->fake, head + 8 - link, other);
	fake_image_put_word(world->fake, other + link, head);
	look = look_at(world);
	found = look->runtime.major_gcs;
	look_end(look);
	world_free(world);
	return found;
}

/* Objects that are newer than the mappings end lists, and begin those of younger generations. */
static void test_collector_newer(void **state)
{
	(void)state;
	assert_int_equal(collections_with(0, 0), 2);
	assert_int_equal(collections_with(0, 8), 2);
	assert_int_equal(collections_with(1, 0), 2);
	assert_int_equal(collections_with(1, 8), 2);
	assert_int_equal(collections_with(2, 8), 2);
	assert_true(collections_with(2, 0) == HEAP_UNKNOWN);
}

/* The state of a str; above its flags there may be anything, as of a block that was in use before. Where 3.14 has them differs. */
static void test_text(void **state)
{
	static const struct {
		unsigned int minor;
		uint32_t state;
		bool is_read;
	} cases[] = {
		{ 13, 0x64, true },	  { 13, 0xb5386366, true }, { 14, 0x64, true },
		{ 14, 0xb5386366, true }, { 14, 0x64 << 14, true }, { 14, 0x64 << 14 | 3, true },
		{ 14, 0x44, false },	  { 14, 0x6c, false },	    { 13, 0x64 << 14, false },
		{ 14, 0, false },
	};
	struct fake_image *fake = fake_image_new();
	const uint64_t text = 0x10000;
	char read[16];
	size_t i;

	(void)state;
	fake_image_map(fake, text, 0x1000, "[heap]", FAKE_WRITABLE);
	fake_image_put_word(fake, text + 16, 3);
	fake_image_put(fake, text + 40, "abc", 3);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_image_put(fake, text + 32, &cases[i].state, 4);
		assert_int_equal(python_text_read(fake_image_open(fake),
						  python_release_with_objects(cases[i].minor), text,
						  read, sizeof(read)),
				 cases[i].is_read);
		if (cases[i].is_read)
			assert_string_equal(read, "abc");
	}
	fake_image_free(fake);
}

static int find_code(struct python_world *world, struct error *reason)
{
	struct python_heap *heap;
	int code = python_heap_find(fake_image_open(world->fake), &heap, reason);

	if (!code)
		python_heap_free(heap);
	world_free(world);
	return code;
}

/* Processes without Python; releases that are not known; builds without a lock. */
static void test_refused(void **state)
{
	struct python_world *world = world_new("/usr/lib/libc.so.6");
	struct error reason = { 0 };

	(void)state;
	assert_int_equal(find_code(world, &reason), -ENOTSUP);
	assert_non_null(strstr(reason.text, "cannot be found out"));
	world = world_new(WORLD_LIBRARY);
	fake_image_put_word(world->fake, world->root + 8, 0);
	assert_int_equal(find_code(world, NULL), -ENOENT);
	reason = (struct error){ 0 };
	assert_int_equal(find_code(world_new("/usr/bin/python3.15"), &reason), -ENOTSUP);
	assert_non_null(strstr(reason.text, "3.15"));
	world = world_new("/opt/libpython.so");
	world_export(world, "_PyRuntime", WORLD_DATA + 0x1000);
	fake_image_put(world->fake, WORLD_DATA + 0x1000, "xdebugpy", 8);
	fake_image_put_word(world->fake, WORLD_DATA + 0x1008, 0x030d00f0);
	fake_image_put_word(world->fake, WORLD_DATA + 0x1010, 1);
	reason = (struct error){ 0 };
	assert_int_equal(find_code(world, &reason), -ENOTSUP);
	assert_non_null(strstr(reason.text, "3.13.0 is built without a global lock"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_small_pools),   cmocka_unit_test(test_absent),
		cmocka_unit_test(test_torn),	      cmocka_unit_test(test_headers),
		cmocka_unit_test(test_no_objects),    cmocka_unit_test(test_names),
		cmocka_unit_test(test_name_reads),    cmocka_unit_test(test_moving),
		cmocka_unit_test(test_sizes),	      cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_tables),	      cmocka_unit_test(test_strange),
		cmocka_unit_test(test_longest),	      cmocka_unit_test(test_code),
		cmocka_unit_test(test_collector),     cmocka_unit_test(test_collector_newer),
		cmocka_unit_test(test_text),	      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_low_addresses), cmocka_unit_test(test_moving_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
