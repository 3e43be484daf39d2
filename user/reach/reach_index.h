/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the block that contains an address, also in its middle; called for every word of a process
 * that may point to one.
 */
#ifndef REACH_REACH_INDEX_H
#define REACH_REACH_INDEX_H

#include <stdbool.h>

#include "reach/reach_blocks.h"

#define REACH_NO_BLOCK UINT32_MAX

struct reach_line;
struct reach_chunk;

struct reach_index {
	const struct reach_blocks *blocks;
	uint64_t low, span; /* all blocks are in [low, low + span] */
	/* Pages in which blocks begin: a bit for each 8 bytes, and numbers of blocks. Owned. */
	struct reach_line *lines;
	size_t line_count, line_capacity;
	struct reach_chunk **slots; /* one per 2 MB of addresses, hashed; owned */
	size_t chunk_count, mask;
	uint64_t seed;
	uint32_t *large; /* blocks whose pages have no entry, in address order; owned */
	size_t large_count, large_capacity;
};

/* `blocks` are settled, at most REACH_BLOCKS_MAX, and outlive the index unchanged. Free with reach_index_free. */
void reach_index_fill(struct reach_index *index, const struct reach_blocks *blocks);
void reach_index_free(struct reach_index *index);

/* An address that may be in a block. */
struct reach_look {
	uint64_t address;
	uint32_t block; /* REACH_NO_BLOCK = in none */
	bool inner; /* the block begins before it */
};

/* Find the blocks of many addresses at once, so that their memory accesses overlap. */
void reach_index_look(const struct reach_index *index, struct reach_look *looks, size_t count);

/*
 * The number of the block that contains `address`, or REACH_NO_BLOCK. An empty block contains its
 * start.
 */
static inline uint32_t reach_index_find(const struct reach_index *index, uint64_t address)
{
	struct reach_look look = { .address = address };

	if (address - index->low > index->span)
		return REACH_NO_BLOCK;
	reach_index_look(index, &look, 1);
	return look.block;
}

#endif
