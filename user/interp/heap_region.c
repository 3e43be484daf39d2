/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap_region.h. */
#include "interp/heap_region.h"

#include <string.h>

/* Heaps are made of blocks that are not smaller, but for what malloc keeps of a page of Ruby's. */
#define BLOCK_MIN 16000

/* Of a block, this many places where a pool may begin are looked at: the first ones are used first. */
#define POOLS_MAX 4

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
	return (address + alignment - 1) & ~(alignment - 1);
}

/* Ruby */

#define RUBY_PAGE_MIN 0x4000 /* up to 3.1; 64 KB since */
#define RUBY_PAGE_MAX 0x10000
#define RUBY_SLOT 40 /* the least size of an object's slot; others are multiples */
#define RUBY_SLOT_MAX 1280
/* A page's first slot is behind its header. */
#define RUBY_START_MAX 256
/* Words of a page's struct among which is the address of the first slot. */
#define RUBY_WORDS 8

/* Slots of a size fill the page but for its header and what is left over at its end, and what older ones leave to malloc. */
static bool ruby_slots_fill(uint64_t slot_size, uint64_t slots, uint64_t page_size)
{
	uint64_t bytes = slot_size * slots;

	return slot_size >= RUBY_SLOT && slot_size <= RUBY_SLOT_MAX && !(slot_size % RUBY_SLOT) &&
	       bytes < page_size && bytes + 2 * RUBY_SLOT + slot_size + RUBY_START_MAX > page_size;
}

/* The struct of a page has the address of its first slot, and the number of slots, which were of one size before 3.1. */
static bool ruby_is_page(const struct target_memory *memory, uint64_t page, uint64_t size)
{
	uint64_t words[RUBY_WORDS], description;
	uint16_t halves[2];
	size_t i;

	if (!target_read(memory, page, &description, sizeof(description)) || description % 8 ||
	    (description >= page && description < page + size) ||
	    !target_read(memory, description, words, sizeof(words)))
		return false;
	memcpy(halves, words, sizeof(halves));
	if (!ruby_slots_fill(halves[0], halves[1], size) &&
	    !ruby_slots_fill(RUBY_SLOT, halves[0], size))
		return false;
	for (i = 1; i < RUBY_WORDS; i++)
		if (words[i] % 8 == 0 && words[i] > page && words[i] < page + RUBY_START_MAX)
			return true;
	return false;
}

static bool ruby_is_heap(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	uint64_t size, page;

	for (size = RUBY_PAGE_MIN; size <= RUBY_PAGE_MAX; size *= 4) {
		page = align_up(start, size);
		/* Where a page is malloc's, it leaves some bytes at the end to that. */
		if (page < end && end - page + RUBY_START_MAX >= size &&
		    ruby_is_page(memory, page, size))
			return true;
	}
	return false;
}

/* CPython */

#define PYTHON_ARENA_MIN (256u << 10) /* up to 3.9; 1 MB since */
#define PYTHON_POOL_MIN 0x1000
#define PYTHON_POOL_MAX 0x4000
#define PYTHON_CLASSES 32
#define PYTHON_STEP 16

/* struct pool_header, the same since 3.6 at least. */
struct python_pool {
	uint32_t count, unused;
	uint64_t free_block, next, previous;
	uint32_t arena, size_class, next_offset, max_next_offset;
};

static bool python_pool_is_sane(const struct python_pool *pool, uint64_t address, uint64_t size)
{
	uint64_t block = (pool->size_class + 1ull) * PYTHON_STEP, header = sizeof(*pool);

	if (pool->size_class >= PYTHON_CLASSES || pool->max_next_offset != size - block)
		return false;
	if (pool->next_offset <= header || pool->next_offset > size ||
	    (pool->next_offset - header) % block)
		return false;
	if (!pool->count || pool->count > (size - header) / block)
		return false;
	return !pool->free_block ||
	       (pool->free_block >= address + header && pool->free_block < address + size);
}

static bool python_is_pool(const struct target_memory *memory, uint64_t address, uint64_t size)
{
	struct python_pool pool;

	return target_read(memory, address, &pool, sizeof(pool)) &&
	       python_pool_is_sane(&pool, address, size);
}

static bool python_is_arena(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	uint64_t length = end - start, size, i;

	if (length < PYTHON_ARENA_MIN || length & (length - 1))
		return false;
	for (size = PYTHON_POOL_MIN; size <= PYTHON_POOL_MAX; size *= 4)
		for (i = 0; i < POOLS_MAX; i++)
			if (python_is_pool(memory, align_up(start, size) + i * size, size))
				return true;
	return false;
}

/* PHP */

#define PHP_CHUNK (2u << 20)
#define PHP_PAGES (PHP_CHUNK / 4096)

/* How a chunk begins, the same since 7.0. */
struct php_chunk {
	uint64_t heap, next, previous;
	uint32_t free_pages, free_tail, number;
};

/* Chunks are linked in a ring, and belong to one heap, which is in one of them. */
static bool php_is_chunk(const struct target_memory *memory, uint64_t address)
{
	struct php_chunk chunk, next;

	if (!target_read(memory, address, &chunk, sizeof(chunk)) || !chunk.heap || chunk.heap % 8 ||
	    !chunk.next || chunk.next % PHP_CHUNK || chunk.previous % PHP_CHUNK ||
	    chunk.free_pages >= PHP_PAGES || chunk.free_tail > PHP_PAGES)
		return false;
	return target_read(memory, chunk.next, &next, sizeof(next)) && next.heap == chunk.heap &&
	       next.previous == address;
}

static bool php_is_heap(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	uint64_t chunk = align_up(start, PHP_CHUNK);

	return chunk < end && end - chunk >= PHP_CHUNK && php_is_chunk(memory, chunk);
}

/* V8 */

#define V8_PAGE (256u << 10)
#define V8_SIZE_MAX (1ULL << 40)
#define V8_HEADER_MAX (64u << 10)

/* How a page begins in Node 14 to 20, a large one as well. */
struct v8_page {
	uint64_t size, flags, heap, area_start, area_end, allocated, wasted, high_water, owner;
	uint64_t allocator, reserved_at, reserved_size;
};

static bool v8_is_page(const struct target_memory *memory, uint64_t address, uint64_t room)
{
	struct v8_page page;

	if (!target_read(memory, address, &page, sizeof(page)) || page.size < sizeof(page) ||
	    page.size > V8_SIZE_MAX || page.size > room || page.flags >> 32)
		return false;
	if (page.area_start <= address || page.area_start - address > V8_HEADER_MAX ||
	    page.area_end <= page.area_start || page.area_end - address > page.size ||
	    page.allocated > page.size || page.high_water > page.size)
		return false;
	return page.reserved_at == address && page.reserved_size >= page.size && page.heap &&
	       !(page.heap % 8) && page.heap - address >= page.size;
}

static bool v8_is_heap(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	uint64_t page = align_up(start, V8_PAGE);

	return page < end && v8_is_page(memory, page, end - page);
}

bool heap_region_may_be(uint64_t address, uint64_t size)
{
	return !(address % RUBY_PAGE_MIN) && size >= BLOCK_MIN && size <= RUBY_PAGE_MAX;
}

enum region heap_region_find(const struct target_memory *memory, uint64_t start, uint64_t end)
{
	if (end < start || end - start < BLOCK_MIN)
		return REGION_NONE;
	if (ruby_is_heap(memory, start, end))
		return REGION_RUBY_HEAP;
	if (python_is_arena(memory, start, end))
		return REGION_PYTHON_ARENA;
	if (php_is_heap(memory, start, end))
		return REGION_PHP_HEAP;
	return v8_is_heap(memory, start, end) ? REGION_V8_HEAP : REGION_NONE;
}
