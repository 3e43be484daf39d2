/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of the census of glibc's malloc: the bytes that are read ahead, how much of a chunk is in memory, and a block in use. */
#include "heap/glibc_heap.h"
#include "image/image_search.h"

bool glibc_blocks_hold(const struct glibc_walk *walk, uint64_t address, size_t size)
{
	uint64_t into = address - walk->start;

	return into < walk->length && walk->length - into >= size;
}

/* Read less ahead where chunks are so large that most of it is left out. */
static void blocks_adapt(struct glibc_walk *walk, uint64_t address)
{
	uint64_t end = walk->start + walk->length, beyond = address > end ? address - end : 0;

	if (walk->length && beyond < walk->ahead / 4)
		walk->ahead = walk->ahead * 2 < walk->room ? walk->ahead * 2 : walk->room;
	else if (walk->ahead / 2 >= GLIBC_WALK_BUFFER_MIN)
		walk->ahead /= 2;
}

const unsigned char *glibc_blocks_bytes(struct glibc_walk *walk, uint64_t address, size_t least,
					size_t *ret_length)
{
	if (!glibc_blocks_hold(walk, address, least)) {
		blocks_adapt(walk, address);
		walk->start = address;
		walk->length = image_read_part(walk->image, address, walk->bytes,
					       walk->ahead > least ? walk->ahead : least);
		if (walk->length < least)
			return NULL;
	}
	*ret_length = walk->length - (address - walk->start);
	return walk->bytes + (address - walk->start);
}

uint64_t glibc_blocks_resident(const struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	return size < walk->image->page_size
		       ? size
		       : image_search_resident(walk->image, chunk, chunk + size);
}

void glibc_blocks_live(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		       const unsigned char *bytes, size_t length)
{
	struct heap_totals *totals = walk->totals;
	struct census_block block = { .address = chunk + GLIBC_HEADER, .size = size - 8 };

	totals->live_blocks++;
	totals->live_bytes += size - 8;
	totals->overhead_bytes += 8;
	totals->live_resident += glibc_blocks_resident(walk, chunk, size);
	if (!walk->sink || !walk->sink->block)
		return;
	if (bytes && length > GLIBC_HEADER) {
		block.bytes = bytes + GLIBC_HEADER;
		block.length = length - GLIBC_HEADER;
		if (block.length > block.size)
			block.length = block.size;
	}
	if (!walk->sink->block(walk->sink->context, &block))
		walk->ended = true;
}
