/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remembers words of blocks that may be addresses of other blocks, while a walk has the blocks at
 * hand, so that the search for holders need not read most of the heap again.
 */
#ifndef KINDS_KIND_POINTERS_H
#define KINDS_KIND_POINTERS_H

#include "heap/census.h"

/* A word that may be the address of a block. */
struct kind_pointer {
	uint64_t word : 48;
	uint64_t at : 16; /* offset in the block, in words */
	uint64_t block; /* address */
};

/* The tail of a block that the walk did not read. */
struct kind_rest {
	uint64_t block; /* address */
	uint64_t from; /* start offset of the tail */
};

/* {0} is empty. */
struct kind_pointers {
	bool is_whole; /* complete for all blocks so far */
	uint64_t low, span; /* range of possible block addresses */
	uint64_t bytes_left; /* bytes of blocks that may still be added */
	struct kind_pointer *items;
	size_t count, capacity;
	struct kind_rest *rests;
	size_t rest_count, rest_capacity;
};

/* Start remembering the pointers of added blocks, as long as these total at most `max_bytes`. */
void kind_pointers_begin(struct kind_pointers *pointers, const struct image *image,
			 uint64_t max_bytes);
/* Add a block; drops everything once there are too many. */
void kind_pointers_add(struct kind_pointers *pointers, const struct census_block *block);
/* Forget all. */
void kind_pointers_drop(struct kind_pointers *pointers);

#endif
