/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of blocks by address, kept by a census so that the next one can compare. */
#ifndef KINDS_KIND_BLOCKS_H
#define KINDS_KIND_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_BYTES_MAX ((1ull << 48) - 1)
#define KIND_BORN_MAX 65535

struct kind_block {
	uint64_t address;
	uint64_t bytes : 48; /* its size */
	/*
	 * Number of the census that saw it first; 0 = written since then, and possibly another
	 * block.
	 */
	uint64_t born : 16;
	uint32_t hash; /* of its first bytes; of a text up to its end */
	uint32_t row; /* index of its kind */
};

/* {0} is an empty list. */
struct kind_blocks {
	struct kind_block *items;
	size_t count, capacity;
};

/* Add a block of `size` bytes that begins with `bytes`. */
void kind_blocks_add(struct kind_blocks *blocks, uint64_t address, uint64_t size,
		     const unsigned char *bytes, size_t length, uint32_t row, uint32_t born);
/* Remove blocks for which `keep` returns false. */
void kind_blocks_thin(struct kind_blocks *blocks, bool (*keep)(uint64_t address, uint64_t every),
		      uint64_t every);
/* Sort by address: fast where walks were ascending, and never more than n log n. */
void kind_blocks_sort(struct kind_blocks *blocks);
void kind_blocks_free(struct kind_blocks *blocks);

#endif
