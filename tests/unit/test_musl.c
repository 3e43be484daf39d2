/* SPDX-License-Identifier: GPL-2.0-or-later */
/* musl's census over a made-up heap, and over damaged copies of it. What is expected follows from the groups below, by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "unit/census_world.h"

#define DATA 0x7f0000001000ull
#define CONTEXT (DATA + 0x200)
#define AREA 0x7f1000001000ull
#define OTHER_AREA 0x7f1000002000ull
#define GROUPS 0x7f2000000000ull
#define SECRET 0x5eca7e5eca7e5ecaull

static void put_byte(struct census_world *world, uint64_t address, unsigned char byte)
{
	fake_image_put(world->fake, address, &byte, 1);
}

/* A block of `size` bytes, `shift` units into its slot. */
static void put_block(struct census_world *world, uint64_t group, unsigned int slot,
		      uint64_t stride, uint64_t size, uint16_t shift)
{
	uint64_t start = group + 16 + slot * stride, at = start + 16 * shift;
	uint64_t end = start + stride - 4;
	uint16_t offset = (uint16_t)((at - group - 16) / 16);
	uint32_t slack = (uint32_t)(end - at - size);

	if (shift) {
		fake_image_put(world->fake, start - 2, &shift, sizeof(shift));
		put_byte(world, start - 3, 7 << 5);
	}
	fake_image_put(world->fake, at - 2, &offset, sizeof(offset));
	put_byte(world, at - 3, (unsigned char)(slot | (slack < 5 ? slack : 5) << 5));
	if (slack >= 5)
		fake_image_put(world->fake, end - 4, &slack, sizeof(slack));
}

static void put_group(struct census_world *world, uint64_t meta, uint64_t group, unsigned int slots,
		      unsigned int size_class, uint64_t mapped, uint32_t available, uint32_t freed)
{
	census_put(world, group, meta);
	census_put(world, meta + 16, group);
	/* Which slots are in use is nowhere else: a bit of these is damaged without a trace. */
	fake_image_put_word(world->fake, meta + 24, available | (uint64_t)freed << 32);
	census_put(world, meta + 32, (slots - 1) | 1 << 5 | size_class << 6 | mapped);
}

/* Class 2 has 48 bytes; ten slots, three available, two freed. Class 7 has 128. */
#define LIVE_BLOCKS (5 + 2 + 1 + 2)
#define LIVE_BYTES (40 + 41 + 44 + 20 + 10 + 100 + 60 + 200000 + 2 * 28)

static void world_open(struct census_world *world)
{
	uint64_t nested = GROUPS + 0x4000 + 16 + 128;

	*world = (struct census_world){ .allocator = &heap_musl, .fake = fake_image_new() };
	fake_image_map(world->fake, DATA, 0x1000, "/lib/ld-musl-x86_64.so.1",
		       FAKE_WRITABLE | FAKE_FILE);
	fake_image_map(world->fake, AREA, 0x2000, "", FAKE_WRITABLE);
	fake_image_map(world->fake, GROUPS, 0x80000, "", FAKE_WRITABLE);
	census_put(world, CONTEXT, SECRET);
	census_put(world, CONTEXT + 8, 1);
	census_put(world, CONTEXT + 56, AREA);
	census_put(world, CONTEXT + 64, OTHER_AREA);
	census_put(world, AREA, SECRET);
	census_put(world, AREA + 8, OTHER_AREA);
	census_put(world, AREA + 16, 101);
	census_put(world, OTHER_AREA, SECRET);
	census_put(world, OTHER_AREA + 8, 0);
	census_put(world, OTHER_AREA + 16, 101);
	put_group(world, AREA + 24, GROUPS, 10, 2, 0x1000, 0x380, 0x60);
	put_block(world, GROUPS, 0, 48, 40, 0);
	put_block(world, GROUPS, 1, 48, 41, 0);
	put_block(world, GROUPS, 2, 48, 44, 0);
	put_block(world, GROUPS, 3, 48, 20, 1);
	put_block(world, GROUPS, 4, 48, 10, 2);
	put_group(world, AREA + 64, GROUPS + 0x4000, 3, 7, 0x1000, 0, 0);
	put_block(world, GROUPS + 0x4000, 0, 128, 100, 0);
	put_block(world, GROUPS + 0x4000, 1, 128, 124, 0);
	put_block(world, GROUPS + 0x4000, 2, 128, 60, 3);
	/* The second slot holds a group. */
	put_byte(world, nested - 3, 1 | 6 << 5);
	put_group(world, OTHER_AREA + 24, nested, 2, 1, 0, 0, 0);
	put_block(world, nested, 0, 32, 28, 0);
	put_block(world, nested, 1, 32, 28, 0);
	put_group(world, OTHER_AREA + 64, GROUPS + 0x10000, 1, 63, 0x31000, 0, 0);
	put_block(world, GROUPS + 0x10000, 0, 0x31000 - 16, 200000, 5);
	world->image = fake_image_open(world->fake);
}
static void test_census(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	assert_int_equal(census_run(&world), 0);
	assert_string_equal(census_remarks(&world), "");
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	assert_int_equal(world.bytes, LIVE_BYTES);
	assert_int_equal(world.totals.live_blocks, LIVE_BLOCKS);
	assert_int_equal(world.totals.mapped_blocks, 1);
	assert_int_equal(world.totals.mapped_bytes, 200000);
	assert_int_equal(world.totals.bins_resident, 5 * 48);
	assert_int_equal(world.totals.free_bytes, 5 * 48);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

static void test_damaged(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_damage(&world, LIVE_BLOCKS, LIVE_BYTES, 400);
	fake_image_free(world.fake);
}

/* Two of the first group's blocks are freed when the walk has left it. */
static void free_two(struct census_world *world)
{
	fake_image_put_word(world->fake, AREA + 48, 0x380 | 0x63ull << 32);
}

static void test_moving(void **state)
{
	struct census_world world;

	(void)state;
	world_open(&world);
	census_check_move(&world, free_two, 6, LIVE_BLOCKS, CENSUS_MOVED);
}

/* Every byte of the first two groups: the walk ends, and is never more than what there is room for. */
static void test_damaged_groups(void **state)
{
	struct census_world world;
	uint64_t at;

	(void)state;
	world_open(&world);
	for (at = GROUPS; at < GROUPS + 0x200; at++) {
		unsigned char byte;

		assert_true(image_read(world.image, at, &byte, 1));
		put_byte(&world, at, (unsigned char)~byte);
		assert_int_equal(census_run(&world), 0);
		assert_true(world.blocks <= LIVE_BLOCKS);
		assert_true(world.bytes <= LIVE_BYTES + 48);
		heap_totals_free(&world.totals);
		put_byte(&world, at, byte);
	}
	fake_image_free(world.fake);
}

/* A list of areas that leads back, and areas full of metas of one group. */
static void test_circles(void **state)
{
	struct census_world world;
	unsigned int i;

	(void)state;
	world_open(&world);
	fake_image_put_word(world.fake, OTHER_AREA + 8, AREA);
	for (i = 2; i < 101; i++)
		put_group(&world, AREA + 24 + 40 * i, GROUPS + 0x8000 + (i % 3) * 16, 32, 2, 0x1000,
			  0, 0);
	assert_int_equal(census_run(&world), 0);
	assert_true(world.totals.remarks.length > 0);
	assert_true(world.fake->reads < 3000);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

/* Where the C library does not know the size of pages, it stands in the context. */
static void test_page_size(void **state)
{
	struct census_world world;
	unsigned int i;

	(void)state;
	world_open(&world);
	for (i = 72; i > 8; i -= 8)
		fake_image_put_word(world.fake, CONTEXT + i,
				    image_word(world.image, CONTEXT + i - 8));
	fake_image_put_word(world.fake, CONTEXT + 8, 4096);
	assert_int_equal(census_run(&world), 0);
	assert_int_equal(world.blocks, LIVE_BLOCKS);
	heap_totals_free(&world.totals);
	fake_image_free(world.fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census),	       cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_damaged_groups), cmocka_unit_test(test_circles),
		cmocka_unit_test(test_page_size),      cmocka_unit_test(test_moving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
