/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_scan.h. Addresses ascend within a piece, so the block that a word is in is found without a search. */
#include "reach/reach_scan.h"

#include <string.h>

/* Where a piece begins. */
static void scan_seek(struct reach_scan *scan, uint64_t place)
{
	const struct kind_blocks *blocks = scan->index->blocks;
	size_t low = 0, high = blocks->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (blocks->items[middle].address + blocks->items[middle].bytes <= place)
			low = middle + 1;
		else
			high = middle;
	}
	scan->cursor = low;
}

/* The block that holds `place`, or REACH_NO_BLOCK. */
static uint32_t scan_source(struct reach_scan *scan, uint64_t place)
{
	const struct kind_blocks *blocks = scan->index->blocks;
	const struct kind_block *block;

	for (; scan->cursor < blocks->count; scan->cursor++) {
		block = &blocks->items[scan->cursor];
		if (place < block->address + block->bytes)
			return place >= block->address ? (uint32_t)scan->cursor : REACH_NO_BLOCK;
	}
	return REACH_NO_BLOCK;
}

static void scan_hit(struct reach_scan *scan, uint32_t target, struct reach_word *word)
{
	const struct kind_block *block = &scan->index->blocks->items[target];
	uint32_t source = scan_source(scan, word->place);
	bool inner = word->word != block->address;
	enum leak_root root;

	if (source != REACH_NO_BLOCK) {
		reach_graph_add_edge(scan->graph, source, target, inner);
		return;
	}
	word->block = block->address;
	word->size = block->bytes;
	root = reach_roots_of(scan->roots, word->place);
	if (!reach_roots_is_record(scan->roots, root, word))
		reach_graph_add_root(scan->graph, target, inner, root, word->place);
}

static void scan_piece(void *context, uint64_t place, const unsigned char *bytes, size_t length)
{
	struct reach_scan *scan = context;
	const uint64_t low = scan->index->low, span = scan->index->span;
	struct reach_word word = { 0 };
	uint32_t target;
	size_t at;

	scan_seek(scan, place);
	for (at = 0; at < length; at += sizeof(uint64_t)) {
		memcpy(&word.word, bytes + at, sizeof(uint64_t));
		if (word.word - low > span)
			continue;
		target = reach_index_look(scan->index, word.word);
		if (target == REACH_NO_BLOCK)
			continue;
		word.place = place + at;
		word.next = 0;
		if (at + 2 * sizeof(uint64_t) <= length)
			memcpy(&word.next, bytes + at + sizeof(uint64_t), sizeof(uint64_t));
		scan_hit(scan, target, &word);
	}
}

bool reach_scan_memory(struct reach_scan *scan, struct image *image, enum reach_direction direction,
		       struct reach_walk_left *ret_left)
{
	const struct reach_walk_sink sink = { scan_piece, scan };

	return reach_walk(image, direction, &sink, ret_left);
}

void reach_scan_word(struct reach_scan *scan, uint64_t word, enum leak_root root)
{
	uint32_t target = reach_index_find(scan->index, word);

	if (target != REACH_NO_BLOCK)
		reach_graph_add_root(scan->graph, target,
				     word != scan->index->blocks->items[target].address, root, 0);
}
