/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_index.h. An open hash table that is at most half full. */
#include "kinds/kind_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seed.h"

void kind_index_fill(struct kind_index *index, const struct kind_blocks *blocks)
{
	uint64_t capacity = 64, slot;
	size_t i;

	while (capacity < blocks->count * 2)
		capacity *= 2;
	*index = (struct kind_index){ .blocks = blocks, .mask = capacity - 1, .seed = seed_new() };
	index->low = blocks->items[0].address;
	index->high = blocks->items[blocks->count - 1].address - index->low;
	index->slots = memory_alloc(capacity, sizeof(*index->slots));
	memset(index->slots, 0xff, capacity * sizeof(*index->slots));
	for (i = 0; i < blocks->count; i++) {
		if (i && blocks->items[i].address == blocks->items[i - 1].address)
			continue;
		slot = kind_index_slot(index, blocks->items[i].address);
		while (index->slots[slot] != KIND_NO_BLOCK)
			slot = (slot + 1) & index->mask;
		index->slots[slot] = (uint32_t)i;
	}
}

void kind_index_free(struct kind_index *index)
{
	free(index->slots);
	*index = (struct kind_index){ 0 };
}
