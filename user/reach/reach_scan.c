/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_scan.h. Addresses ascend within a piece, so the block that a word is in is found without a search. */
#include "reach/reach_scan.h"

#include <string.h>

#define SCAN_WORDS 256 /* that are looked up together */

/* Where a piece begins. */
static void scan_seek(struct reach_scan *scan, uint64_t place)
{
	const struct reach_blocks *blocks = scan->index->blocks;
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
	const struct reach_blocks *blocks = scan->index->blocks;
	const struct reach_block *block;

	for (; scan->cursor < blocks->count; scan->cursor++) {
		block = &blocks->items[scan->cursor];
		if (place < block->address + block->bytes)
			return place >= block->address ? (uint32_t)scan->cursor : REACH_NO_BLOCK;
	}
	return REACH_NO_BLOCK;
}

/* A piece that is looked at, and words of it that may lead to blocks, by their places in it. */
struct scan_words {
	uint64_t place;
	const unsigned char *bytes;
	size_t length;
	struct reach_look looks[SCAN_WORDS];
	uint32_t offsets[SCAN_WORDS];
	size_t count;
};

/* A word in no block leads to one. */
static void scan_root(struct reach_scan *scan, const struct scan_words *words, size_t at)
{
	const struct reach_look *look = &words->looks[at];
	const struct reach_block *block = &scan->index->blocks->items[look->block];
	size_t next = words->offsets[at] + sizeof(uint64_t);
	struct reach_word word = { .place = words->place + words->offsets[at],
				   .word = look->address,
				   .block = block->address,
				   .size = block->bytes };
	enum leak_root root = reach_roots_of(scan->roots, word.place);
	bool inner;

	if (next + sizeof(uint64_t) <= words->length)
		memcpy(&word.next, words->bytes + next, sizeof(uint64_t));
	if (reach_roots_is_record(scan->roots, root, &word))
		return;
	inner = look->inner && !reach_roots_is_loader(scan->roots, root, word.place);
	reach_graph_add_root(scan->graph, look->block, inner, root, word.place);
	if (inner && root < LEAK_ROOTS_LIVE)
		reach_graph_add_guess(scan->graph, REACH_NOBODY, look->block,
				      look->address - block->address);
}

/* A word in block `source` does. */
static void scan_edge(struct reach_scan *scan, uint32_t source, const struct reach_look *look)
{
	reach_graph_add_edge(scan->graph, source, look->block, look->inner);
	if (look->inner)
		reach_graph_add_guess(scan->graph, source, look->block,
				      look->address -
					      scan->index->blocks->items[look->block].address);
}

static void scan_words(struct reach_scan *scan, struct scan_words *words)
{
	uint32_t source;
	size_t i;

	reach_index_look(scan->index, words->looks, words->count);
	for (i = 0; i < words->count; i++) {
		if (words->looks[i].block == REACH_NO_BLOCK ||
		    (scan->roots->free_list_count &&
		     reach_roots_is_free_list(scan->roots, words->place + words->offsets[i])))
			continue;
		source = scan_source(scan, words->place + words->offsets[i]);
		if (source == REACH_NO_BLOCK)
			scan_root(scan, words, i);
		else
			scan_edge(scan, source, &words->looks[i]);
	}
	words->count = 0;
}

static void scan_piece(void *context, uint64_t place, const unsigned char *bytes, size_t length)
{
	struct reach_scan *scan = context;
	const uint64_t low = scan->index->low, span = scan->index->span;
	struct scan_words words;
	uint64_t word;
	size_t at;

	words.place = place;
	words.bytes = bytes;
	words.length = length;
	words.count = 0;
	scan_seek(scan, place);
	for (at = 0; at < length; at += sizeof(uint64_t)) {
		memcpy(&word, bytes + at, sizeof(uint64_t));
		/* Without a jump: which words are addresses cannot be foreseen. */
		words.looks[words.count].address = word;
		words.offsets[words.count] = (uint32_t)at;
		words.count += word - low <= span;
		if (words.count == SCAN_WORDS)
			scan_words(scan, &words);
	}
	scan_words(scan, &words);
}

bool reach_scan_memory(struct reach_scan *scan, struct image *image, enum reach_direction direction,
		       struct reach_walk_left *ret_left)
{
	const struct reach_walk_sink sink = { scan_piece, scan };

	return reach_walk(image, direction, &sink, ret_left);
}

void reach_scan_word(struct reach_scan *scan, uint64_t word, enum leak_root root)
{
	struct reach_look look = { .address = word };

	if (word - scan->index->low > scan->index->span)
		return;
	reach_index_look(scan->index, &look, 1);
	if (look.block == REACH_NO_BLOCK)
		return;
	reach_graph_add_root(scan->graph, look.block, look.inner, root, 0);
	if (look.inner && root < LEAK_ROOTS_LIVE)
		reach_graph_add_guess(scan->graph, REACH_NOBODY, look.block,
				      word - scan->index->blocks->items[look.block].address);
}
