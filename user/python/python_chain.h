/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows long chains of objects, each held by the next in the same way, such as linked lists:
 * jumps from an object to the first of its chain, where a search level by level would need a pass
 * over the memory for each.
 */
#ifndef PYTHON_PYTHON_CHAIN_H
#define PYTHON_PYTHON_CHAIN_H

#include "python/python_graph.h"

#define PYTHON_CHAINS 8 /* limit of chains per search */

struct python_chain;

/* {0} is empty. */
struct python_chains {
	struct python_chain *items[PYTHON_CHAINS];
	size_t count;
};

/*
 * For each node from `first` on that has no holder yet and was reached twice in a row through the
 * same words of objects of its type: make the first object of that chain its holder. Stops at
 * `until_ns` (CLOCK_MONOTONIC; 0 = no limit) and at the image's time limit.
 */
void python_chains_jump(struct python_chains *chains, struct python_graph *graph, size_t first,
			uint64_t until_ns);
void python_chains_free(struct python_chains *chains);

#endif
