/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All blocks of a process, as a walk has found them; once they are settled, their positions are their numbers. */
#ifndef REACH_REACH_BLOCKS_H
#define REACH_REACH_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* More blocks are not numbered: a bit of a number has a meaning of its own. */
#define REACH_BLOCKS_MAX ((1u << 31) - 2)

/* There are millions of them. */
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
 * Sort the blocks by address, and leave out those that begin inside of another one, or at no multiple of 8. Returns how many were left out.
 */
size_t reach_blocks_settle(struct reach_blocks *blocks);
void reach_blocks_free(struct reach_blocks *blocks);

#endif
