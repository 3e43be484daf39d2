/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds all words of a process that point to one block, to explain why it is still reachable. */
#ifndef REACH_REACH_HOLDERS_H
#define REACH_REACH_HOLDERS_H

#include "reach/reach_blocks.h"
#include "reach/reach_roots.h"

#define REACH_HOLDERS_MAX 4096 /* limit of listed ones; more are only counted */

struct reach_holder {
	uint64_t place, word;
	size_t source; /* the block containing `place`; SIZE_MAX = none */
	enum leak_root root; /* without a source: the kind of memory */
};

/* In order of `place`. {0} is empty. */
struct reach_holders {
	struct reach_holder *items; /* owned */
	size_t count, capacity;
	uint64_t all; /* total, including unlisted ones */
};

/*
 * Read all memory for words that point to block `target` or into it, except its own words and
 * allocators' records. False if time ran out. Free with reach_holders_free.
 */
bool reach_holders_find(struct reach_holders *holders, const struct reach_roots *roots,
			const struct reach_blocks *blocks, size_t target);
void reach_holders_free(struct reach_holders *holders);

/* The block that contains `address`, or SIZE_MAX. `blocks` are settled. */
size_t reach_holders_block(const struct reach_blocks *blocks, uint64_t address);

#endif
