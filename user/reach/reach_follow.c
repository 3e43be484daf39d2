/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_follow.h. */
#include "reach/reach_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "image/window.h"

#define FOLLOW_LOOK 256 /* bytes of a block */
#define FOLLOW_WINDOW (64u << 10)

static void candidates_add(struct reach_candidates *candidates,
			   const struct reach_candidate *candidate)
{
	candidates->items = memory_grow(candidates->items, candidates->count, &candidates->capacity,
					sizeof(*candidates->items));
	candidates->items[candidates->count++] = *candidate;
}

static uint32_t candidates_hash(struct window *window, const struct reach_block *block)
{
	size_t size = block->bytes < FOLLOW_LOOK ? (size_t)block->bytes : FOLLOW_LOOK, at, got;
	const unsigned char *bytes = window_get_part(window, block->address, size, &got);
	uint64_t hash = HASH_BEGIN, word;

	for (at = 0; bytes && at + sizeof(word) <= got; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		hash = hash_word(hash, word);
	}
	return (uint32_t)(hash >> 32);
}

void reach_candidates_take(struct reach_candidates *candidates, const struct reach_blocks *blocks,
			   const struct reach_graph *graph, struct image *image)
{
	struct window window;
	size_t i;

	window_open(&window, image, FOLLOW_WINDOW);
	for (i = 0; i < graph->count; i++) {
		const struct reach_node *node = &graph->nodes[i];
		struct reach_candidate candidate = { .address = blocks->items[i].address,
						     .size = blocks->items[i].bytes,
						     .verdict = node->verdict };

		if (node->verdict != LEAK_DEFINITE && node->verdict != LEAK_INDIRECT &&
		    node->verdict != LEAK_POSSIBLE)
			continue;
		if (node->verdict != LEAK_POSSIBLE) {
			candidate.leader =
				blocks->items[reach_graph_leader(graph, (uint32_t)i)].address;
			candidate.hash = candidates_hash(&window, &blocks->items[i]);
		}
		candidates_add(candidates, &candidate);
	}
	window_close(&window);
}

/* The same block in two passes. False: it has moved. */
static bool candidates_join(struct reach_candidate *kept, const struct reach_candidate *now)
{
	if (kept->size != now->size)
		return false;
	if (kept->verdict == LEAK_POSSIBLE || now->verdict == LEAK_POSSIBLE) {
		kept->verdict = LEAK_POSSIBLE;
		kept->leader = 0;
		return true;
	}
	return kept->leader == now->leader && kept->hash == now->hash;
}

void reach_candidates_meet(struct reach_candidates *kept, const struct reach_candidates *pass)
{
	size_t i, at = 0, count = 0;

	for (i = 0; i < kept->count; i++) {
		struct reach_candidate item = kept->items[i];

		while (at < pass->count && pass->items[at].address < item.address)
			at++;
		if (at < pass->count && pass->items[at].address == item.address &&
		    candidates_join(&item, &pass->items[at]))
			kept->items[count++] = item;
	}
	kept->count = count;
	reach_candidates_settle(kept);
}

void reach_candidates_check(struct reach_candidates *kept, const struct reach_blocks *blocks)
{
	size_t i, at = 0, count = 0;

	for (i = 0; i < kept->count; i++) {
		const struct reach_candidate *item = &kept->items[i];

		while (at < blocks->count && blocks->items[at].address < item->address)
			at++;
		if (at < blocks->count && blocks->items[at].address == item->address &&
		    blocks->items[at].bytes == item->size)
			kept->items[count++] = *item;
	}
	kept->count = count;
	reach_candidates_settle(kept);
}

/* The first of `blocks`, from `at` on, that ends behind `address`. */
static size_t blocks_seek(const struct reach_blocks *blocks, size_t at, uint64_t address)
{
	while (at < blocks->count && blocks->items[at].address + blocks->items[at].bytes <= address)
		at++;
	return at;
}

static bool blocks_have(const struct reach_blocks *blocks, size_t at, uint64_t address)
{
	return at < blocks->count && blocks->items[at].address <= address;
}

size_t reach_candidates_check_moving(struct reach_candidates *kept,
				     const struct reach_blocks *blocks,
				     const struct reach_blocks *unknown, struct image *image)
{
	size_t i, at = 0, range = 0, count = 0, unseen = 0;
	struct window window;

	window_open(&window, image, FOLLOW_WINDOW);
	for (i = 0; i < kept->count; i++) {
		struct reach_candidate item = kept->items[i];
		const struct reach_block block = { item.address, item.size };

		at = blocks_seek(blocks, at, item.address);
		range = blocks_seek(unknown, range, item.address);
		if (blocks_have(blocks, at, item.address)) {
			if (blocks->items[at].address != item.address ||
			    blocks->items[at].bytes != item.size ||
			    (item.leader && candidates_hash(&window, &block) != item.hash))
				continue;
			item.seen = true;
		} else if (!blocks_have(unknown, range, item.address)) {
			continue;
		}
		unseen += !item.seen;
		kept->items[count++] = item;
	}
	window_close(&window);
	kept->count = count;
	reach_candidates_settle(kept);
	return unseen;
}

void reach_candidates_drop_unseen(struct reach_candidates *kept)
{
	size_t i, count = 0;

	for (i = 0; i < kept->count; i++)
		if (kept->items[i].seen)
			kept->items[count++] = kept->items[i];
	kept->count = count;
	reach_candidates_settle(kept);
}

void reach_candidates_drop_held(struct reach_candidates *kept, const struct reach_blocks *blocks,
				const struct reach_graph *graph)
{
	size_t i, at = 0, count = 0;

	for (i = 0; i < kept->count; i++) {
		while (at < blocks->count && blocks->items[at].address < kept->items[i].address)
			at++;
		if (at == blocks->count || blocks->items[at].address != kept->items[i].address ||
		    (graph->nodes[at].verdict != LEAK_REACHABLE &&
		     graph->nodes[at].verdict != LEAK_UNJUDGED))
			kept->items[count++] = kept->items[i];
	}
	kept->count = count;
	reach_candidates_settle(kept);
}

size_t reach_candidates_lost(const struct reach_candidates *candidates)
{
	size_t i, count = 0;

	for (i = 0; i < candidates->count; i++)
		count += candidates->items[i].leader != 0;
	return count;
}

struct reach_candidate *reach_candidates_find(const struct reach_candidates *candidates,
					      uint64_t address)
{
	size_t low = 0, high = candidates->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (candidates->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < candidates->count && candidates->items[low].address == address
		       ? &candidates->items[low]
		       : NULL;
}

void reach_candidates_settle(struct reach_candidates *kept)
{
	const struct reach_candidate *leader;
	size_t i, count = 0;

	/* Nothing is moved before all leaders were looked for; a leader that is gone is marked by its verdict. */
	for (i = 0; i < kept->count; i++) {
		leader = kept->items[i].leader ? reach_candidates_find(kept, kept->items[i].leader)
					       : &kept->items[i];
		if (!leader || (kept->items[i].leader && leader->verdict != LEAK_DEFINITE))
			kept->items[i].verdict = LEAK_UNJUDGED;
	}
	for (i = 0; i < kept->count; i++)
		if (kept->items[i].verdict != LEAK_UNJUDGED)
			kept->items[count++] = kept->items[i];
	kept->count = count;
}

bool reach_candidates_are_same(const struct reach_candidates *a, const struct reach_candidates *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->items[i].address != b->items[i].address ||
		    a->items[i].size != b->items[i].size ||
		    a->items[i].leader != b->items[i].leader)
			return false;
	return true;
}

void reach_candidates_free(struct reach_candidates *candidates)
{
	free(candidates->items);
	*candidates = (struct reach_candidates){ 0 };
}
