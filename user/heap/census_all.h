/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A census of all heaps of a process, for all supported allocators; and comparison of a block found
 * with one requested.
 */
#ifndef HEAP_CENSUS_ALL_H
#define HEAP_CENSUS_ALL_H

#include <stdbool.h>
#include <stdint.h>

#include "heap/census.h"
#include "image/image.h"

struct census_all {
	/* Called for each block in use, in arbitrary order; NULL = only totals are needed. */
	void (*block)(void *context, const char *allocator, const struct census_block *block);
	/*
	 * Called for memory that may contain blocks in use that were not found; NULL = not needed.
	 */
	void (*unknown)(void *context, uint64_t start, uint64_t end);
	void *context;
	/* Results. */
	const char *allocator; /* the last one walked; static; NULL = none */
	/* Each listed block is certainly in use, not only their number; there may be more */
	bool by_address;
	uint64_t live_blocks, live_bytes;
	uint64_t unknown_bytes; /* bytes not understood, or not walked */
	/* Why a detected allocator could not be walked; empty = all could. */
	struct error reason;
};

/*
 * Walk the heaps of all detected allocators. The caller refreshes the image first; its time limit
 * applies. False if there is none, one could not be walked, or time ran out: then discard the
 * blocks seen.
 */
bool census_all_walk(struct census_all *all, struct image *image);

/* Is there a census for an allocator, named as in allocator.h? */
bool census_knows(const char *allocator);

/* Does an allocator return aligned memory that begins inside one of its blocks? */
bool census_aligns_inside(const char *allocator);

/* Usable bytes of a block that was requested with `size` bytes. */
uint64_t census_usable(const char *allocator, uint64_t size);

/*
 * Can `seen` be a block that was requested with `size` bytes? The memory of a freed block may have
 * been reused, or merged with its neighbours.
 */
bool census_fits(const char *allocator, uint64_t size, const struct census_block *seen);

#endif
