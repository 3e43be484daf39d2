/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See reach_index.h. Each page in which a block begins has a line of bits; the number of a block is that of the page's first one and
 * the bits before its own. A page in which none begins has the block that reaches into it. So an address costs a few reads
 * of memory, however many blocks there are.
 */
#include "reach/reach_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seed.h"

#define PAGE_SHIFT 12
#define CHUNK_SHIFT 21
#define CHUNK_PAGES (1u << (CHUNK_SHIFT - PAGE_SHIFT))
#define WORD_SHIFT 3
#define LINE_WORDS 8
#define LARGE (1u << 20) /* bytes of a block from which its pages have no entries */
#define ENTRY_COVERED (1u << 31) /* the rest is a block; else a line's number plus one */

struct reach_line {
	uint64_t bits[LINE_WORDS];
	uint32_t first; /* the number of the first block that begins here */
};

struct reach_chunk {
	uint64_t number;
	uint32_t pages[CHUNK_PAGES]; /* 0 = nothing */
};

size_t reach_index_settle(struct kind_blocks *blocks)
{
	uint64_t end = 0;
	size_t i, kept = 0, left;

	if (blocks->count)
		kind_blocks_sort(blocks);
	for (i = 0; i < blocks->count; i++) {
		const struct kind_block *block = &blocks->items[i];

		if (block->address & 7 || block->address < end || block->address > INT64_MAX ||
		    kept >= REACH_BLOCKS_MAX)
			continue;
		end = block->address + (block->bytes ? block->bytes : 1);
		blocks->items[kept++] = *block;
	}
	left = blocks->count - kept;
	blocks->count = kept;
	return left;
}

static size_t index_slot(const struct reach_index *index, uint64_t number)
{
	return (size_t)(((number ^ index->seed) * 0x9e3779b97f4a7c15ull) >> 32) & index->mask;
}

static struct reach_chunk *index_chunk(const struct reach_index *index, uint64_t number)
{
	size_t slot = index_slot(index, number);

	while (index->slots[slot] && index->slots[slot]->number != number)
		slot = (slot + 1) & index->mask;
	return index->slots[slot];
}

static void index_put_chunk(struct reach_index *index, struct reach_chunk *chunk)
{
	size_t slot = index_slot(index, chunk->number);

	while (index->slots[slot])
		slot = (slot + 1) & index->mask;
	index->slots[slot] = chunk;
}

static void index_grow(struct reach_index *index)
{
	struct reach_chunk **before = index->slots;
	size_t i, count = before ? index->mask + 1 : 0;

	index->mask = count ? 2 * count - 1 : 63;
	index->slots = memory_alloc(index->mask + 1, sizeof(struct reach_chunk *));
	for (i = 0; i < count; i++)
		if (before[i])
			index_put_chunk(index, before[i]);
	free(before);
}

/* The entry of the page that holds `address`; it is made if there is none. */
static uint32_t *index_entry(struct reach_index *index, uint64_t address)
{
	struct reach_chunk *chunk = index_chunk(index, address >> CHUNK_SHIFT);

	if (!chunk) {
		if (2 * index->chunk_count > index->mask)
			index_grow(index);
		chunk = memory_alloc(1, sizeof(*chunk));
		chunk->number = address >> CHUNK_SHIFT;
		index_put_chunk(index, chunk);
		index->chunk_count++;
	}
	return &chunk->pages[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)];
}

static void index_add_start(struct reach_index *index, uint64_t address, uint32_t number)
{
	uint32_t *entry = index_entry(index, address);
	unsigned int bit = address >> WORD_SHIFT & (LINE_WORDS * 64 - 1);
	struct reach_line *line;

	if (!*entry || *entry & ENTRY_COVERED) {
		index->lines = memory_grow(index->lines, index->line_count, &index->line_capacity,
					   sizeof(*index->lines));
		index->lines[index->line_count++] = (struct reach_line){ .first = number };
		*entry = (uint32_t)index->line_count;
	}
	line = &index->lines[*entry - 1];
	line->bits[bit / 64] |= 1ull << bit % 64;
}

/* The pages behind the one in which the block begins. */
static void index_cover(struct reach_index *index, const struct kind_block *block, uint32_t number)
{
	uint64_t page = (block->address >> PAGE_SHIFT) + 1;
	uint64_t last = (block->address + block->bytes - 1) >> PAGE_SHIFT;

	for (; page <= last; page++)
		*index_entry(index, page << PAGE_SHIFT) = number | ENTRY_COVERED;
}

static void index_add(struct reach_index *index, uint32_t number)
{
	const struct kind_block *block = &index->blocks->items[number];

	index_add_start(index, block->address, number);
	if (block->bytes >= LARGE) {
		index->large = memory_grow(index->large, index->large_count, &index->large_capacity,
					   sizeof(*index->large));
		index->large[index->large_count++] = number;
	} else if (block->bytes) {
		index_cover(index, block, number);
	}
}

void reach_index_fill(struct reach_index *index, const struct kind_blocks *blocks)
{
	const struct kind_block *last;
	size_t i;

	*index = (struct reach_index){ .blocks = blocks, .low = UINT64_MAX, .seed = seed_new() };
	index_grow(index);
	if (!blocks->count)
		return;
	last = &blocks->items[blocks->count - 1];
	index->low = blocks->items[0].address;
	index->span = last->address + last->bytes - index->low;
	for (i = 0; i < blocks->count; i++)
		index_add(index, (uint32_t)i);
}

void reach_index_free(struct reach_index *index)
{
	size_t i;

	for (i = 0; index->slots && i <= index->mask; i++)
		free(index->slots[i]);
	free(index->slots);
	free(index->lines);
	free(index->large);
	*index = (struct reach_index){ 0 };
}

static bool index_holds(const struct reach_index *index, uint32_t number, uint64_t address)
{
	const struct kind_block *block = &index->blocks->items[number];

	return address - block->address < block->bytes || address == block->address;
}

static uint32_t index_find_large(const struct reach_index *index, uint64_t address)
{
	size_t low = 0, high = index->large_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (index->blocks->items[index->large[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && index_holds(index, index->large[low - 1], address) ? index->large[low - 1]
									 : REACH_NO_BLOCK;
}

/* How many blocks begin in the line up to the bit. */
static uint32_t index_rank(const struct reach_line *line, unsigned int bit)
{
	unsigned int i, rank = 0;

	for (i = 0; i < bit / 64; i++)
		rank += (unsigned int)__builtin_popcountll(line->bits[i]);
	return rank + (unsigned int)__builtin_popcountll(line->bits[i] & ~0ull >> (63 - bit % 64));
}

uint32_t reach_index_look(const struct reach_index *index, uint64_t address)
{
	const struct reach_chunk *chunk = index_chunk(index, address >> CHUNK_SHIFT);
	uint32_t entry = 0, number;

	if (chunk)
		entry = chunk->pages[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)];
	if (!entry)
		return index_find_large(index, address);
	if (entry & ENTRY_COVERED) {
		number = entry & ~ENTRY_COVERED;
	} else {
		const struct reach_line *line = &index->lines[entry - 1];

		number = line->first +
			 index_rank(line, address >> WORD_SHIFT & (LINE_WORDS * 64 - 1));
		if (!number--)
			return REACH_NO_BLOCK;
	}
	return index_holds(index, number, address) ? number : REACH_NO_BLOCK;
}
