/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_transient.h. */
#include "ruby/ruby_transient.h"

#include <string.h>

#define BLOCK_SIZE (32u << 10)
#define BLOCKS (RUBY_TRANSIENT_SIZE / BLOCK_SIZE)
#define STATUS_MAX 2
#define STEP 512 /* words that are read at once */

/* As it is in static data. */
struct transient_heap {
	uint64_t blocks[3]; /* lists: in use, marked, free */
	uint32_t objects, marked, block_count, status;
	uint64_t promoted;
	uint32_t promoted_size, promoted_count;
	uint64_t arena;
	uint32_t next_block, unused;
};

#define WORDS (sizeof(struct transient_heap) / 8)

static bool transient_is_heap(const struct image *image, const struct transient_heap *heap)
{
	uint64_t arena = heap->arena;
	const struct image_mapping *mapping;
	size_t i, found = 0;

	if (!arena || arena % BLOCK_SIZE || arena > UINT64_MAX - RUBY_TRANSIENT_SIZE ||
	    !heap->block_count || heap->block_count > heap->next_block ||
	    heap->next_block > BLOCKS || heap->status > STATUS_MAX ||
	    heap->marked > heap->objects || heap->promoted_count > heap->promoted_size)
		return false;
	for (i = 0; i < 3; i++) {
		if (heap->blocks[i] &&
		    ((heap->blocks[i] - arena) % BLOCK_SIZE ||
		     heap->blocks[i] - arena >= (uint64_t)heap->next_block * BLOCK_SIZE))
			return false;
		found += heap->blocks[i] != 0;
	}
	mapping = image_find(image, arena);
	return found && mapping && mapping->writable && !mapping->inode &&
	       mapping->end - arena >= RUBY_TRANSIENT_SIZE;
}

uint64_t ruby_transient_find(const struct ruby_heap *heap)
{
	uint64_t words[STEP + WORDS], start, end;
	struct transient_heap found;
	size_t size, i;

	if (heap->layout->major > 3 || (heap->layout->major == 3 && heap->layout->minor > 2))
		return 0;
	ruby_heap_static_range(heap, &start, &end);
	for (; start < end; start += STEP * 8) {
		size = image_read_part(heap->image, start, words, sizeof(words)) / 8;
		for (i = 0; i + WORDS <= size && i < STEP; i++) {
			memcpy(&found, words + i, sizeof(found));
			if (transient_is_heap(heap->image, &found))
				return found.arena;
		}
	}
	return 0;
}
