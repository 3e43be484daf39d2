/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_blocks.h. Allocators walk upward in each of their parts. */
#include "reach/reach_blocks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/runs.h"

#define BLOCKS_BYTES_MAX \
	((1ull << 48) - 1) /* of one, so that no sum of it and an address is too large */

void reach_blocks_add(struct reach_blocks *blocks, uint64_t address, uint64_t size)
{
	blocks->items = memory_grow_large(blocks->items, blocks->count, &blocks->capacity,
					  sizeof(*blocks->items));
	blocks->items[blocks->count++] =
		(struct reach_block){ address, size < BLOCKS_BYTES_MAX ? size : BLOCKS_BYTES_MAX };
}

size_t reach_blocks_settle(struct reach_blocks *blocks)
{
	uint64_t end = 0;
	size_t i, kept = 0, left;

	if (blocks->count)
		runs_sort(blocks->items, blocks->count, sizeof(*blocks->items));
	for (i = 0; i < blocks->count; i++) {
		const struct reach_block *block = &blocks->items[i];

		if (block->address & 7 || block->address < end || block->address > INT64_MAX ||
		    kept >= REACH_BLOCKS_MAX)
			continue;
		end = block->address + (block->bytes ? block->bytes : 1);
		if (kept != i)
			blocks->items[kept] = *block;
		kept++;
	}
	left = blocks->count - kept;
	blocks->count = blocks->capacity = kept;
	blocks->items = memory_resize(blocks->items, kept, sizeof(*blocks->items));
	return left;
}

void reach_blocks_free(struct reach_blocks *blocks)
{
	free(blocks->items);
	*blocks = (struct reach_blocks){ 0 };
}
