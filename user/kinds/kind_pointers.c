/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_pointers.h. */
#include "kinds/kind_pointers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Beyond 64 MB a second look is the cheaper one: a heap that has so many pointers is not so much larger itself. */
#define POINTERS_MAX (4u << 20)
#define POINTERS_BYTES (UINT16_MAX * sizeof(uint64_t))

void kind_pointers_begin(struct kind_pointers *pointers, const struct image *image,
			 uint64_t max_bytes)
{
	uint64_t high = 0;
	size_t i;

	kind_pointers_drop(pointers);
	pointers->low = UINT64_MAX;
	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->writable || mapping->end >> 48)
			continue;
		if (pointers->low == UINT64_MAX)
			pointers->low = mapping->start;
		high = mapping->end;
	}
	pointers->span = high ? high - pointers->low : 0;
	pointers->bytes_left = max_bytes;
	pointers->is_whole = true;
}

void kind_pointers_drop(struct kind_pointers *pointers)
{
	free(pointers->items);
	free(pointers->rests);
	*pointers = (struct kind_pointers){ 0 };
}

static void pointers_add_word(struct kind_pointers *pointers, uint64_t block, size_t at,
			      uint64_t word)
{
	pointers->items = memory_grow(pointers->items, pointers->count, &pointers->capacity,
				      sizeof(*pointers->items));
	pointers->items[pointers->count++] =
		(struct kind_pointer){ .word = word & ((1ull << 48) - 1),
				       .at = at / sizeof(word) & UINT16_MAX,
				       .block = block };
}

void kind_pointers_add(struct kind_pointers *pointers, const struct census_block *block)
{
	const uint64_t low = pointers->low, span = pointers->span;
	size_t length = block->bytes ? block->length : 0, at;
	uint64_t word;

	if (!pointers->is_whole)
		return;
	if (block->size > pointers->bytes_left || pointers->count > POINTERS_MAX ||
	    pointers->rest_count > POINTERS_MAX) {
		kind_pointers_drop(pointers);
		return;
	}
	pointers->bytes_left -= block->size;
	if (length > block->size)
		length = block->size;
	length = (length < POINTERS_BYTES ? length : POINTERS_BYTES) & ~7ull;
	for (at = 0; at < length; at += sizeof(word)) {
		memcpy(&word, block->bytes + at, sizeof(word));
		if (word - low < span && !(word & 7))
			pointers_add_word(pointers, block->address, at, word);
	}
	if (block->size - length < sizeof(word))
		return;
	pointers->rests = memory_grow(pointers->rests, pointers->rest_count,
				      &pointers->rest_capacity, sizeof(*pointers->rests));
	pointers->rests[pointers->rest_count++] = (struct kind_rest){ block->address, length };
}
