/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All words of a process that lead to one block: who asks why it is still there wants to see each of them. */
#ifndef REACH_REACH_HOLDERS_H
#define REACH_REACH_HOLDERS_H

#include "reach/reach_blocks.h"
#include "reach/reach_roots.h"

#define REACH_HOLDERS_MAX 4096 /* that are listed; more are counted */

struct reach_holder {
	uint64_t place, word;
	size_t source; /* the block that `place` is in; SIZE_MAX = none */
	enum leak_root root; /* without a source: what the memory there is */
};

/* In the order of places. {0} is empty. */
struct reach_holders {
	struct reach_holder *items; /* owned */
	size_t count, capacity;
	uint64_t all; /* also those that are not listed */
};

/*
 * Read all memory for words that lead to block `target` or into it, other than its own and allocators' records. False if there was no time
 * for all of it. Free with reach_holders_free.
 */
bool reach_holders_find(struct reach_holders *holders, const struct reach_roots *roots,
			const struct reach_blocks *blocks, size_t target);
void reach_holders_free(struct reach_holders *holders);

/* The block that holds `address`, or SIZE_MAX. `blocks` are settled (reach_index.h). */
size_t reach_holders_block(const struct reach_blocks *blocks, uint64_t address);

#endif
