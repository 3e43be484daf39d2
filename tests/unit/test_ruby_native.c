/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of malloc's behind objects of Ruby's extensions. Truth: graphs of blocks that the tests make up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ruby/ruby_native.h"
#include "unit/fake_image.h"

#define HEAP 0x7f0000001000ull
#define SIZE 0x100000u
#define BLOCK(number) (HEAP + (uint64_t)(number)*0x100)
#define BLOCKS 64
#define VM BLOCK(60)
#define BYTES 0x80

struct world {
	struct fake_image *fake;
	struct object_table table;
	struct ruby_native native;
	struct ruby_heap heap;
};

static void put_block(struct world *world, uint64_t address, uint64_t size)
{
	const struct census_block block = { .address = address, .size = size };
	const struct census_sink sink = ruby_native_sink(&world->native);

	assert_true(sink.block(sink.context, &block));
}

/* Blocks of BYTES, of which one has the other's address. */
static void open_world(struct world *world, const unsigned int (*pointers)[2], size_t count)
{
	size_t i;

	*world = (struct world){ .fake = fake_image_new(), .heap = { .vm = VM } };
	fake_image_map(world->fake, HEAP, SIZE, "", FAKE_WRITABLE);
	for (i = 0; i < count; i++)
		fake_image_put_word(world->fake, BLOCK(pointers[i][0]) + 8 + i % 8 * 8,
				    BLOCK(pointers[i][1]));
	ruby_native_open(fake_image_open(world->fake), 1 << 20, &world->native);
	for (i = BLOCKS; i; i--)
		put_block(world, BLOCK(i - 1), BYTES);
	assert_true(ruby_native_begin(&world->native, &world->heap));
}

static void end_world(struct world *world)
{
	ruby_native_free(&world->native);
	object_table_free(&world->table);
	fake_image_free(world->fake);
}

/* An object of a class, with typed data at an address. */
static void put_object(struct world *world, uint64_t class, uint64_t data)
{
	uint64_t words[5] = { RUBY_T_DATA, class, 0x1000, 1, data };
	const struct ruby_slot slot = { .type = RUBY_T_DATA,
					.bytes = (unsigned char *)words,
					.size = sizeof(words) };

	object_table_get(&world->table, class);
	ruby_native_put(&world->native, ruby_release_find("3.1.0"), &slot,
			(size_t)(object_table_get(&world->table, class) - world->table.items));
}

static uint64_t bytes_of(struct world *world, uint64_t class)
{
	const struct object_class *row = object_table_get(&world->table, class);

	assert_int_equal(row->native_bytes, row->other_bytes);
	return row->native_bytes;
}

static void test_blocks_belong_to_the_nearest_object(void **state)
{
	/* 1 -> 2 -> 3 -> 1; 4 -> 5 -> 2; both lead to 7, the second sooner; 8 is nobody's. */
	static const unsigned int pointers[][2] = { { 1, 2 }, { 2, 3 }, { 3, 1 }, { 4, 5 },
						    { 5, 2 }, { 3, 7 }, { 5, 7 }, { 8, 9 } };
	struct world world;

	(void)state;
	open_world(&world, pointers, 8);
	put_object(&world, 100, BLOCK(1));
	put_object(&world, 200, BLOCK(4));
	put_object(&world, 200, BLOCK(4)); /* nor twice */
	put_object(&world, 300, BLOCK(20) + 8); /* no block begins there */
	put_object(&world, 300, 0xdead0000);
	ruby_native_count(&world.native, &world.table);
	assert_int_equal(bytes_of(&world, 100), 3 * BYTES);
	assert_int_equal(bytes_of(&world, 200), 3 * BYTES);
	assert_int_equal(bytes_of(&world, 300), 0);
	end_world(&world);
}

static void test_what_others_lead_to_is_no_objects(void **state)
{
	/* The virtual machine leads to an object's data, which stays its own, and to 6; a string has 8. */
	static const unsigned int pointers[][2] = { { 60, 1 }, { 1, 2 }, { 60, 5 }, { 5, 6 },
						    { 2, 6 },  { 6, 7 }, { 1, 8 },  { 8, 9 } };
	uint64_t words[5] = { RUBY_T_STRING | 1 << 13, 0, 1, BLOCK(8), 1 };
	const struct ruby_slot string = { .type = RUBY_T_STRING,
					  .bytes = (unsigned char *)words,
					  .size = sizeof(words) };
	struct world world;

	(void)state;
	open_world(&world, pointers, 8);
	put_object(&world, 100, BLOCK(1));
	ruby_native_put(&world.native, ruby_release_find("3.1.0"), &string, 0);
	ruby_native_count(&world.native, &world.table);
	assert_int_equal(bytes_of(&world, 100), 2 * BYTES);
	end_world(&world);
}

static void test_data_in_the_slot(void **state)
{
	static const unsigned int pointers[][2] = { { 1, 2 } };
	uint64_t words[10] = { RUBY_T_DATA, 100, 0x1000, 3, 8, BLOCK(1), 0, BLOCK(3) };
	const struct ruby_slot slot = { .type = RUBY_T_DATA,
					.bytes = (unsigned char *)words,
					.size = sizeof(words) };
	struct world world;

	(void)state;
	open_world(&world, pointers, 1);
	object_table_get(&world.table, 100);
	ruby_native_put(&world.native, ruby_release_find("3.3.0"), &slot, 0);
	ruby_native_count(&world.native, &world.table);
	assert_int_equal(bytes_of(&world, 100), 3 * BYTES);
	end_world(&world);
}

/* A list of all blocks, and one that is larger than what may be read. */
static void test_long_lists_and_large_blocks(void **state)
{
	unsigned int pointers[BLOCKS - 1][2];
	struct buffer remarks = { 0 };
	struct world world;
	unsigned int i;

	(void)state;
	for (i = 0; i < BLOCKS - 1; i++) {
		pointers[i][0] = i;
		pointers[i][1] = i + 1;
	}
	pointers[59][1] = 61;
	open_world(&world, pointers, BLOCKS - 1);
	put_object(&world, 100, BLOCK(0));
	ruby_native_count(&world.native, &world.table);
	assert_int_equal(bytes_of(&world, 100), 60 * BYTES);
	ruby_native_remark(&world.native, &remarks);
	assert_int_equal(remarks.length, 0);
	end_world(&world);
	open_world(&world, pointers, BLOCKS - 1);
	world.native.budget = 10 * BYTES;
	put_object(&world, 100, BLOCK(0));
	ruby_native_count(&world.native, &world.table);
	assert_in_range(bytes_of(&world, 100), 5 * BYTES, 12 * BYTES);
	ruby_native_remark(&world.native, &remarks);
	assert_non_null(strstr(remarks.data, "not all counted"));
	buffer_free(&remarks);
	end_world(&world);
}

/* Pages that are not in memory hold no pointers; sizes that are lies end at the mapping. */
static void test_absent_pages_and_false_sizes(void **state)
{
	struct world world = { .fake = fake_image_new() };

	(void)state;
	fake_image_map(world.fake, HEAP, SIZE, "", FAKE_WRITABLE);
	fake_image_put_word(world.fake, HEAP + 0x3008, BLOCK(0x500));
	fake_image_put_word(world.fake, HEAP + 0x5008, BLOCK(0x600));
	fake_image_absent(world.fake, HEAP + 0x2000, 0x1000);
	fake_image_absent(world.fake, HEAP + 0x5000, 0x1000);
	ruby_native_open(fake_image_open(world.fake), 1ull << 30, &world.native);
	assert_false(ruby_native_begin(&world.native, &world.heap));
	put_block(&world, HEAP, 0x8000);
	put_block(&world, BLOCK(0x500), UINT64_MAX);
	put_block(&world, BLOCK(0x600), BYTES);
	assert_true(ruby_native_begin(&world.native, &world.heap));
	put_object(&world, 100, HEAP);
	ruby_native_count(&world.native, &world.table);
	assert_int_equal(bytes_of(&world, 100), 0x8000 + KIND_BYTES_MAX);
	end_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_belong_to_the_nearest_object),
		cmocka_unit_test(test_what_others_lead_to_is_no_objects),
		cmocka_unit_test(test_data_in_the_slot),
		cmocka_unit_test(test_long_lists_and_large_blocks),
		cmocka_unit_test(test_absent_pages_and_false_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
