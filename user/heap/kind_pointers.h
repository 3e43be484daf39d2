/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of blocks that may be the addresses of others, remembered while a walk has the blocks at hand: so most of a heap is read once, also
 * where holders of the blocks are found.
 */
#ifndef HEAP_KIND_POINTERS_H
#define HEAP_KIND_POINTERS_H

#include "heap/census.h"

/* A word that may be the address of a block. */
struct kind_pointer {
	uint64_t word : 48;
	uint64_t at : 16; /* where it is in the block, in words */
	uint64_t block; /* address */
};

/* A part of a block, up to its end, that was not at hand. */
struct kind_rest {
	uint64_t block; /* address */
	uint64_t from; /* bytes from there on */
};

/* {0}: nothing is remembered. */
struct kind_pointers {
	bool is_whole; /* of all blocks so far */
	uint64_t low, span; /* where blocks may be */
	uint64_t bytes_left; /* of blocks, until it is not worth it */
	struct kind_pointer *items;
	size_t count, capacity;
	struct kind_rest *rests;
	size_t rest_count, rest_capacity;
};

/* Remember pointers of the blocks that are added, as long as these are `max_bytes` in all at most. */
void kind_pointers_begin(struct kind_pointers *pointers, const struct image *image,
			 uint64_t max_bytes);
/* Once there are too many, all are forgotten. */
void kind_pointers_add(struct kind_pointers *pointers, const struct census_block *block);
/* Forget all. */
void kind_pointers_drop(struct kind_pointers *pointers);

#endif
