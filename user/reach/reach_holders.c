/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_holders.h. */
#include "reach/reach_holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "reach/reach_walk.h"

struct search {
	struct reach_holders *holders;
	const struct reach_roots *roots;
	const struct reach_blocks *blocks;
	size_t target;
};

size_t reach_holders_block(const struct reach_blocks *blocks, uint64_t address)
{
	size_t low = 0, high = blocks->count, middle;
	const struct reach_block *block;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (blocks->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return SIZE_MAX;
	block = &blocks->items[low - 1];
	return address == block->address || address - block->address < block->bytes ? low - 1
										    : SIZE_MAX;
}

static void search_add(struct search *search, const struct reach_word *word)
{
	struct reach_holders *holders = search->holders;
	struct reach_holder holder = { .place = word->place,
				       .word = word->word,
				       .source = reach_holders_block(search->blocks, word->place) };

	if (holder.source == search->target || reach_roots_is_free_list(search->roots, word->place))
		return;
	if (holder.source == SIZE_MAX) {
		holder.root = reach_roots_of(search->roots, word->place);
		if (reach_roots_is_record(search->roots, holder.root, word))
			return;
	}
	if (holders->all++ >= REACH_HOLDERS_MAX)
		return;
	holders->items = memory_grow(holders->items, holders->count, &holders->capacity,
				     sizeof(*holders->items));
	holders->items[holders->count++] = holder;
}

static void search_piece(void *context, uint64_t place, const unsigned char *bytes, size_t length)
{
	struct search *search = context;
	const struct reach_block *block = &search->blocks->items[search->target];
	struct reach_word word = { .block = block->address, .size = block->bytes };
	const uint64_t span = block->bytes ? block->bytes : 1;
	size_t at;

	for (at = 0; at < length; at += sizeof(uint64_t)) {
		memcpy(&word.word, bytes + at, sizeof(uint64_t));
		if (word.word - block->address >= span)
			continue;
		word.place = place + at;
		word.next = 0;
		if (at + 2 * sizeof(uint64_t) <= length)
			memcpy(&word.next, bytes + at + sizeof(uint64_t), sizeof(uint64_t));
		search_add(search, &word);
	}
}

static int holders_compare(const void *a, const void *b)
{
	const struct reach_holder *left = a, *right = b;

	return compare_numbers(left->place, right->place);
}

bool reach_holders_find(struct reach_holders *holders, const struct reach_roots *roots,
			const struct reach_blocks *blocks, size_t target)
{
	struct search search = { holders, roots, blocks, target };
	const struct reach_walk_sink sink = { search_piece, &search };
	struct reach_walk_left left;
	bool has_all = reach_walk(roots->image, REACH_UPWARD, &sink, &left);

	if (holders->count)
		qsort(holders->items, holders->count, sizeof(*holders->items), holders_compare);
	return has_all;
}

void reach_holders_free(struct reach_holders *holders)
{
	free(holders->items);
	*holders = (struct reach_holders){ 0 };
}
