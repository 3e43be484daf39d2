/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the block that begins at an address; called for every word of a heap. */
#ifndef KINDS_KIND_INDEX_H
#define KINDS_KIND_INDEX_H

#include "kinds/kind_blocks.h"

#define KIND_NO_BLOCK UINT32_MAX

struct kind_index {
	const struct kind_blocks *blocks;
	uint32_t *slots; /* owned */
	uint64_t mask, seed, low,
		high; /* the first address, and the distance of the last one from it */
};

/* `blocks` must be sorted, neither empty nor more than 2^31, and outlive it unchanged. Free with kind_index_free. */
void kind_index_fill(struct kind_index *index, const struct kind_blocks *blocks);
void kind_index_free(struct kind_index *index);

/* The first slot to probe for an address. */
static inline uint64_t kind_index_slot(const struct kind_index *index, uint64_t address)
{
	return ((address ^ index->seed) * 0x9e3779b97f4a7c15ull >> 24) & index->mask;
}

/* The number of the block that begins at `address`, or KIND_NO_BLOCK. */
static inline uint32_t kind_index_find(const struct kind_index *index, uint64_t address)
{
	uint64_t slot;
	uint32_t found;

	if (address - index->low > index->high || address & 7)
		return KIND_NO_BLOCK;
	for (slot = kind_index_slot(index, address);; slot = (slot + 1) & index->mask) {
		found = index->slots[slot];
		if (found == KIND_NO_BLOCK || index->blocks->items[found].address == address)
			return found;
	}
}

#endif
