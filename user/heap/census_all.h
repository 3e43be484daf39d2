/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A census of all heaps of a process, whatever allocators it has; and whether a block of it may be one that was asked for. */
#ifndef HEAP_CENSUS_ALL_H
#define HEAP_CENSUS_ALL_H

#include <stdbool.h>
#include <stdint.h>

#include "heap/census.h"
#include "heap/image.h"

struct census_all {
	/* Called for each block in use, in no order; NULL = only the totals are wanted. */
	void (*block)(void *context, const char *allocator, const struct census_block *block);
	/* Called for memory that may have blocks in use that were not found; NULL = that is not wanted. */
	void (*unknown)(void *context, uint64_t start, uint64_t end);
	void *context;
	/* What was found. */
	const char *allocator; /* the last one that was walked; static; NULL = none was */
	bool by_address; /* which blocks are in use is certain, not only how many: others may be, too */
	uint64_t live_blocks, live_bytes;
	uint64_t unknown_bytes; /* that were not understood, or not walked */
	/* Why an allocator that is at work could not be walked; no text = all could. */
	struct error reason;
};

/*
 * Walk the heaps of all allocators that are at work. The image is to be refreshed before, and its limit of time holds. False if there
 * is none, one could not be walked, or there was not time enough: then blocks that were seen are of no heap.
 */
bool census_all_walk(struct census_all *all, struct image *image);

/* Is there a census of the heaps of an allocator, by its name in allocator.h? */
bool census_knows(const char *allocator);

/* Does an allocator hand out aligned memory that begins inside of one of its blocks? */
bool census_aligns_inside(const char *allocator);

/* What the program may use of a block for which it has asked for `size` bytes. */
uint64_t census_usable(const char *allocator, uint64_t size);

/* May what was seen be a block for which `size` bytes were asked? The place of a freed one may be another's, or merged with others. */
bool census_fits(const char *allocator, uint64_t size, const struct census_block *seen);

#endif
