/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What memory is an interpreter's heap. Truth: pages, pools and chunks laid out by hand as the releases of the interpreters do. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "interp/heap_region.h"
#include "unit/fake_memory.h"

#define TEST(name) cmocka_unit_test_setup(name, fake_clear)

static enum region find(uint64_t start, uint64_t length)
{
	enum region region = heap_region_find(&fake_memory, start, start + length);

	assert_in_range(fake_reads, 0, 40);
	fake_reads = 0;
	return region;
}

/* Releases of Ruby: the size of a page, where its struct has slot size (-1: nowhere), number of slots, and first slot. */
static const struct ruby {
	uint64_t page;
	int slot_size, slots, start;
	uint16_t size, count;
	uint64_t first;
} rubies[] = {
	{ 0x4000, -1, 0, 24, 40, 408, 40 }, /* 2.7 */
	{ 0x4000, 0, 2, 32, 40, 409, 16 }, /* 3.1 */
	{ 0x10000, 0, 2, 32, 40, 1638, 16 }, /* 3.3 */
	{ 0x10000, 0, 2, 32, 640, 102, 40 }, { 0x10000, 0, 2, 40, 160, 409, 40 }, /* 3.4 */
};

/* A page at `page`, its struct at `at`. */
static void put_ruby(const struct ruby *ruby, uint64_t page, uint64_t at)
{
	put_word(page, at);
	if (ruby->slot_size >= 0)
		put_half(at + (uint64_t)ruby->slot_size, ruby->size);
	put_half(at + (uint64_t)ruby->slots, ruby->count);
	put_word(at + (uint64_t)ruby->start, page + ruby->first);
}

static void test_ruby(void **state)
{
	const uint64_t at = FAKE_BASE + (4u << 20) + 0x1230;
	size_t i;

	for (i = 0; i < sizeof(rubies) / sizeof(rubies[0]); i++) {
		const struct ruby *ruby = &rubies[i];

		fake_clear(state);
		put_ruby(ruby, FAKE_BASE + 0x10000, at);
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page), REGION_RUBY_HEAP);
		/* As malloc's, and in a mapping from which the ends were not cut. */
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page - 24), REGION_RUBY_HEAP);
		assert_int_equal(find(FAKE_BASE + 0xf000, ruby->page + 0x1000), REGION_RUBY_HEAP);
		assert_int_equal(find(FAKE_BASE + 0xc000, 0x4000), REGION_NONE);
		/* The struct leads to another page, or there is none. */
		put_word(at + (uint64_t)ruby->start, FAKE_BASE + 0x30000 + ruby->first);
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page), REGION_NONE);
		put_ruby(ruby, FAKE_BASE + 0x10000, at);
		put_half(at + (uint64_t)ruby->slots, ruby->count / 2);
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page), REGION_NONE);
		put_ruby(ruby, FAKE_BASE + 0x10000, at);
		put_word(FAKE_BASE + 0x10000, FAKE_BASE + FAKE_SIZE);
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page), REGION_NONE);
		/* A struct cannot be in its page. */
		put_ruby(ruby, FAKE_BASE + 0x10000, FAKE_BASE + 0x10100);
		assert_int_equal(find(FAKE_BASE + 0x10000, ruby->page), REGION_NONE);
	}
}

static void put_pool(uint64_t pool, uint32_t size, uint32_t size_class, uint32_t count)
{
	const uint32_t block = (size_class + 1) * 16;

	put_number(pool, count);
	put_word(pool + 8, pool + 48);
	put_number(pool + 36, size_class);
	put_number(pool + 40, 48 + 3 * block);
	put_number(pool + 44, size - block);
}

static void test_python(void **state)
{
	static const uint32_t arenas[] = { 256u << 10, 1u << 20 }, pools[] = { 4096, 16384 };
	uint64_t pool;
	size_t i;

	for (i = 0; i < 2; i++) {
		fake_clear(state);
		/* Arenas begin at any page. */
		pool = FAKE_BASE + 0x4000;
		put_pool(pool, pools[i], 3, 3);
		assert_int_equal(find(FAKE_BASE + 0x4000 - (i ? 0x1000 : 0), arenas[i]),
				 REGION_PYTHON_ARENA);
		assert_int_equal(find(pool, arenas[i] - 4096), REGION_NONE);
		assert_int_equal(find(pool, 128u << 10), REGION_NONE);
		put_pool(pool, pools[i], 32, 3);
		assert_int_equal(find(pool, arenas[i]), REGION_NONE);
		put_pool(pool, pools[i], 3, 0);
		assert_int_equal(find(pool, arenas[i]), REGION_NONE);
		put_pool(pool, pools[i], 3, 3);
		put_word(pool + 8, pool + pools[i]);
		assert_int_equal(find(pool, arenas[i]), REGION_NONE);
		put_pool(pool, pools[i], 3, 3);
		put_number(pool + 40, 48 + 5);
		assert_int_equal(find(pool, arenas[i]), REGION_NONE);
		put_pool(pool, pools[i], 3, 3);
		put_number(pool + 44, pools[i]);
		assert_int_equal(find(pool, arenas[i]), REGION_NONE);
	}
}

static void put_chunk(uint64_t chunk, uint64_t next, uint64_t previous)
{
	put_word(chunk, FAKE_BASE + 0x40);
	put_word(chunk + 8, next);
	put_word(chunk + 16, previous);
	put_number(chunk + 24, 511);
	put_number(chunk + 28, 1);
}

static void test_php(void **state)
{
	const uint64_t one = FAKE_BASE, two = FAKE_BASE + (4u << 20), size = 2u << 20;

	(void)state;
	put_chunk(one, one, one);
	assert_int_equal(find(one, size), REGION_PHP_HEAP);
	put_chunk(one, two, two);
	assert_int_equal(find(one, size), REGION_NONE);
	put_chunk(two, one, one);
	assert_int_equal(find(one, size), REGION_PHP_HEAP);
	assert_int_equal(find(two - 0x1000, size + 0x1000), REGION_PHP_HEAP);
	assert_int_equal(find(two, size - 0x1000), REGION_NONE);
	put_chunk(two, one, two);
	assert_int_equal(find(one, size), REGION_NONE);
}

/* The header of a page, as seen in Node 20. */
static void put_v8(uint64_t page, uint64_t size)
{
	const uint64_t words[] = { size,
				   0x12,
				   FAKE_BASE + 0x33a0f020,
				   page + 0x1148,
				   page + size,
				   0x3eeb8,
				   0,
				   0x39148,
				   0x339e21a8,
				   0x566a2f0,
				   page,
				   size };

	fake_put(page, words, sizeof(words));
}

static void test_v8(void **state)
{
	const uint64_t page = FAKE_BASE + (1u << 20), size = 256u << 10;
	/* What makes no sense: the header's word, and its value. */
	const struct {
		uint64_t word, value;
	} wrong[] = {
		{ 0, size + 4096 },	{ 0, 8 },	 { 1, 1ull << 32 },  { 2, 0 },
		{ 2, page + 0x2000 },	{ 3, page },	 { 3, page + size }, { 4, page },
		{ 4, page + size + 1 }, { 5, size + 1 }, { 7, UINT64_MAX },  { 10, page + size },
		{ 11, size - 1 }
	};
	size_t i;

	(void)state;
	put_v8(page, size);
	assert_int_equal(find(page, size), REGION_V8_HEAP);
	assert_int_equal(find(page - 0x1000, size + 0x1000), REGION_V8_HEAP);
	assert_int_equal(find(page, size - 0x1000), REGION_NONE);
	assert_int_equal(find(page + 0x1000, size), REGION_NONE);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put_v8(page, size);
		put_word(page + wrong[i].word * 8, wrong[i].value);
		if (find(page, size) != REGION_NONE)
			fail_msg("word %zu", i);
	}
	put_v8(page, 7 * size);
	assert_int_equal(find(page, 7 * size), REGION_V8_HEAP);
}

/* Other memory, the end of the address space, and what cannot be read. */
static void test_none(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(find(FAKE_BASE, FAKE_SIZE), REGION_NONE);
	assert_int_equal(find(FAKE_BASE, 4096), REGION_NONE);
	assert_int_equal(find(FAKE_BASE - (64u << 20), 1u << 20), REGION_NONE);
	assert_int_equal(heap_region_find(&fake_memory, UINT64_MAX - 0x3fff, UINT64_MAX),
			 REGION_NONE);
	assert_int_equal(heap_region_find(&fake_memory, 0x8000, 0x4000), REGION_NONE);
	memset(fake_bytes, 0xff, FAKE_SIZE);
	assert_int_equal(find(FAKE_BASE, 2u << 20), REGION_NONE);
	/* Each page refers to itself. */
	for (i = 0; i < FAKE_SIZE / 8; i++)
		put_word(FAKE_BASE + i * 8, FAKE_BASE + i * 8);
	assert_int_equal(find(FAKE_BASE, 2u << 20), REGION_NONE);
	srand(1);
	for (i = 0; i < FAKE_SIZE; i++)
		fake_bytes[i] = (unsigned char)rand();
	assert_int_equal(find(FAKE_BASE, 2u << 20), REGION_NONE);
}

static void test_blocks(void **state)
{
	(void)state;
	assert_true(heap_region_may_be(0x10000, 0x4000 - 24));
	assert_true(heap_region_may_be(0x10000, 0x10000));
	assert_false(heap_region_may_be(0x10010, 0x4000));
	assert_false(heap_region_may_be(0x10000, 0x1000));
	assert_false(heap_region_may_be(0x10000, 0x20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ruby), TEST(test_python), TEST(test_php),
		TEST(test_v8),	 TEST(test_none),   TEST(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
