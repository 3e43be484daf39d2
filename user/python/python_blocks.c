/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_blocks.h. */
#include "python/python_blocks.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"

/* A larger block is a lie. */
#define ADDRESSES_END (1ull << 47)

void python_blocks_add(struct python_blocks *blocks, uint64_t address, uint64_t size)
{
	if (!address || address >= ADDRESSES_END || !size || size > ADDRESSES_END - address)
		return;
	if (blocks->count >= PYTHON_BLOCKS_KEPT) {
		blocks->lost++;
		return;
	}
	blocks->items = memory_grow(blocks->items, blocks->count, &blocks->capacity,
				    sizeof(blocks->items[0]));
	blocks->items[blocks->count++] = (struct python_block){ address, size };
}

static int blocks_compare(const void *left, const void *right)
{
	const struct python_block *a = left, *b = right;

	return compare_numbers(a->address, b->address);
}

void python_blocks_sort(struct python_blocks *blocks)
{
	if (blocks->count)
		qsort(blocks->items, blocks->count, sizeof(blocks->items[0]), blocks_compare);
}

const struct python_block *python_blocks_find(const struct python_blocks *blocks, uint64_t address)
{
	size_t low = 0, high = blocks->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (address < blocks->items[middle].address)
			high = middle;
		else if (address - blocks->items[middle].address >= blocks->items[middle].size)
			low = middle + 1;
		else
			return &blocks->items[middle];
	}
	return NULL;
}

bool python_blocks_has(const struct python_blocks *blocks, uint64_t start, uint64_t end)
{
	size_t low = 0, high = blocks->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (blocks->items[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < blocks->count && blocks->items[low].address < end;
}

void python_blocks_free(struct python_blocks *blocks)
{
	free(blocks->items);
	*blocks = (struct python_blocks){ 0 };
}
