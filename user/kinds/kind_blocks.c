/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_blocks.h. Allocators walk upward in each of their parts. */
#include "kinds/kind_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/runs.h"

#define BLOCKS_LANES 4

static uint32_t blocks_hash(const unsigned char *bytes, size_t length)
{
	uint64_t hashes[BLOCKS_LANES] = { HASH_BEGIN, 1, 2, 3 }, word;
	size_t at = 0, i;

	/* A multiplication takes longer than what it waits for: so there are some at a time. */
	for (; at + sizeof(hashes) <= length; at += sizeof(hashes))
		for (i = 0; i < BLOCKS_LANES; i++) {
			memcpy(&word, bytes + at + i * sizeof(word), sizeof(word));
			hashes[i] = hash_word(hashes[i], word);
		}
	hashes[0] = hash_word(hashes[0], length);
	for (; at < length; at += sizeof(word)) {
		word = 0;
		memcpy(&word, bytes + at, length - at < sizeof(word) ? length - at : sizeof(word));
		hashes[0] = hash_word(hashes[0], word);
	}
	for (i = 1; i < BLOCKS_LANES; i++)
		hashes[0] = hash_word(hashes[0], hashes[i]);
	return (uint32_t)(hashes[0] >> 32);
}

void kind_blocks_add(struct kind_blocks *blocks, uint64_t address, uint64_t size,
		     const unsigned char *bytes, size_t length, uint32_t row, uint32_t born)
{
	blocks->items = memory_grow_large(blocks->items, blocks->count, &blocks->capacity,
					  sizeof(*blocks->items));
	blocks->items[blocks->count++] =
		(struct kind_block){ .address = address,
				     .bytes = size < KIND_BYTES_MAX ? size : KIND_BYTES_MAX,
				     .hash = bytes && length ? blocks_hash(bytes, length) : 0,
				     .row = row,
				     .born = born < KIND_BORN_MAX ? born : KIND_BORN_MAX };
}

void kind_blocks_thin(struct kind_blocks *blocks, bool (*keep)(uint64_t address, uint64_t every),
		      uint64_t every)
{
	size_t i, kept = 0;

	for (i = 0; i < blocks->count; i++)
		if (keep(blocks->items[i].address, every))
			blocks->items[kept++] = blocks->items[i];
	blocks->count = kept;
}

void kind_blocks_sort(struct kind_blocks *blocks)
{
	runs_sort(blocks->items, blocks->count, sizeof(*blocks->items));
}

void kind_blocks_free(struct kind_blocks *blocks)
{
	free(blocks->items);
	*blocks = (struct kind_blocks){ 0 };
}
