/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See reach_index.h. Each page in which a block begins has a line of bits; the number of a block is how many begin before the word
 * that its bit is in, and the bits before its own. A page in which none begins has the block that reaches into it. So the start of a block
 * costs two reads of memory, and another address three, however many blocks there are.
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
#define INDEX_TOGETHER 64 /* addresses */
#define ENTRY_COVERED (1u << 31) /* the rest is a block; else a line's number plus one */

/* What is asked for together is in one line of the cache. */
struct reach_line {
	struct reach_line_word {
		uint64_t bits;
		uint32_t before; /* how many blocks of all begin before these 512 bytes */
	} words[LINE_WORDS];
};

struct reach_chunk {
	uint64_t number;
	uint32_t pages[CHUNK_PAGES]; /* 0 = nothing */
};

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
		index->lines = memory_grow_large(index->lines, index->line_count,
						 &index->line_capacity, sizeof(*index->lines));
		line = &index->lines[index->line_count++];
		*line = (struct reach_line){ 0 };
		line->words[0].before = number;
		*entry = (uint32_t)index->line_count;
	}
	line = &index->lines[*entry - 1];
	line->words[bit / 64].bits |= 1ull << bit % 64;
}

/* The bits that are set. Not the compiler's: without the instruction for it, which not every processor has, that is a call. */
static uint32_t index_count_bits(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (uint32_t)(bits * 0x0101010101010101ull >> 56);
}

static void index_count(struct reach_line *line)
{
	size_t i;

	for (i = 1; i < LINE_WORDS; i++)
		line->words[i].before =
			line->words[i - 1].before + index_count_bits(line->words[i - 1].bits);
}

/* The pages behind the one in which the block begins. */
static void index_cover(struct reach_index *index, const struct reach_block *block, uint32_t number)
{
	uint64_t page = (block->address >> PAGE_SHIFT) + 1;
	uint64_t last = (block->address + block->bytes - 1) >> PAGE_SHIFT;

	for (; page <= last; page++)
		*index_entry(index, page << PAGE_SHIFT) = number | ENTRY_COVERED;
}

static void index_add(struct reach_index *index, uint32_t number)
{
	const struct reach_block *block = &index->blocks->items[number];

	index_add_start(index, block->address, number);
	if (block->bytes >= LARGE) {
		index->large = memory_grow(index->large, index->large_count, &index->large_capacity,
					   sizeof(*index->large));
		index->large[index->large_count++] = number;
	} else if (block->bytes) {
		index_cover(index, block, number);
	}
}

void reach_index_fill(struct reach_index *index, const struct reach_blocks *blocks)
{
	const struct reach_block *last;
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
	for (i = 0; i < index->line_count; i++)
		index_count(&index->lines[i]);
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
	const struct reach_block *block = &index->blocks->items[number];

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

/* What is known of the page that holds `address`; what is needed next is on its way. */
static uint32_t index_page(const struct reach_index *index, uint64_t address)
{
	const struct reach_chunk *chunk = index_chunk(index, address >> CHUNK_SHIFT);
	uint32_t entry = chunk ? chunk->pages[address >> PAGE_SHIFT & (CHUNK_PAGES - 1)] : 0;

	if (entry & ENTRY_COVERED)
		__builtin_prefetch(&index->blocks->items[entry & ~ENTRY_COVERED]);
	else if (entry)
		__builtin_prefetch(&index->lines[entry - 1]
					    .words[address >> (WORD_SHIFT + 6) & (LINE_WORDS - 1)]);
	return entry;
}

/* Of the block that begins last up to the address, which its page's entry leads to: its number, unless there is none. */
static void index_rank(const struct reach_index *index, uint32_t entry, struct reach_look *look)
{
	unsigned int bit = look->address >> WORD_SHIFT & 63;
	const struct reach_line_word *word =
		&index->lines[entry - 1]
			 .words[look->address >> (WORD_SHIFT + 6) & (LINE_WORDS - 1)];
	uint32_t number = word->before + index_count_bits(word->bits & ~0ull >> (63 - bit));

	look->block = number ? number - 1 : REACH_NO_BLOCK;
	look->inner = look->address & 7 || !(word->bits >> bit & 1);
	if (look->inner && number)
		__builtin_prefetch(&index->blocks->items[look->block]);
}

static void index_look(const struct reach_index *index, struct reach_look *looks, size_t count)
{
	uint32_t entries[INDEX_TOGETHER];
	size_t i;

	for (i = 0; i < count; i++)
		entries[i] = index_page(index, looks[i].address);
	for (i = 0; i < count; i++) {
		looks[i].inner = true;
		if (!entries[i])
			looks[i].block = index_find_large(index, looks[i].address);
		else if (entries[i] & ENTRY_COVERED)
			looks[i].block = entries[i] & ~ENTRY_COVERED;
		else
			index_rank(index, entries[i], &looks[i]);
	}
	for (i = 0; i < count; i++)
		if (looks[i].inner && looks[i].block != REACH_NO_BLOCK &&
		    !index_holds(index, looks[i].block, looks[i].address))
			looks[i].block = REACH_NO_BLOCK;
}

void reach_index_look(const struct reach_index *index, struct reach_look *looks, size_t count)
{
	size_t now;

	for (; count; count -= now, looks += now) {
		now = count < INDEX_TOGETHER ? count : INDEX_TOGETHER;
		index_look(index, looks, now);
	}
}
