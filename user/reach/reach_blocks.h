/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All blocks of a process, from a walk; once settled, their positions are their numbers. */
#ifndef REACH_REACH_BLOCKS_H
#define REACH_REACH_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* Limit of blocks: one bit of a number is a flag. */
#define REACH_BLOCKS_MAX ((1u << 31) - 2)

/* Small, since there are millions. */
struct reach_block {
	uint64_t address, bytes;
};

/* {0} is an empty list. */
struct reach_blocks {
	struct reach_block *items; /* owned */
	size_t count, capacity;
};

void reach_blocks_add(struct reach_blocks *blocks, uint64_t address, uint64_t size);
/*
 * Sort the blocks by address, and remove those that begin inside another one, or are misaligned
 * (not a multiple of 8). Returns the number removed.
 */
size_t reach_blocks_settle(struct reach_blocks *blocks);
void reach_blocks_free(struct reach_blocks *blocks);

#endif
