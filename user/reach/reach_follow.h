/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that nothing leads to, over several passes through a process that runs meanwhile. What is truly lost does not move: it is lost in each
 * pass, through the same leader, and has the same contents. A block of a list whose head was missed has another leader each time.
 */
#ifndef REACH_REACH_FOLLOW_H
#define REACH_REACH_FOLLOW_H

#include "heap/image.h"
#include "reach/reach_graph.h"
#include "reach/reach_index.h"

struct reach_candidate {
	uint64_t address, size;
	uint64_t leader; /* the address of its leader; 0 = it is only possible */
	uint32_t hash; /* of how it begins, of what is lost */
	uint8_t verdict; /* LEAK_DEFINITE, LEAK_INDIRECT or LEAK_POSSIBLE */
	uint8_t encoded; /* enum reach_code: a word that was found by it; 0 = none */
	uint8_t before; /* enum leak_before, where there was a look before */
};

/* In the order of addresses. {0} is empty. */
struct reach_candidates {
	struct reach_candidate *items; /* owned */
	size_t count, capacity;
};

/* All blocks of a pass that are lost, or may be. */
void reach_candidates_take(struct reach_candidates *candidates, const struct reach_blocks *blocks,
			   const struct reach_graph *graph, struct image *image);
/* Keep what is a candidate in this pass, too. */
void reach_candidates_meet(struct reach_candidates *kept, const struct reach_candidates *pass);
/* Keep what is still a block of that size. `blocks` are in the order of addresses. */
void reach_candidates_check(struct reach_candidates *kept, const struct reach_blocks *blocks);
/* How many are lost, and not only possibly. */
size_t reach_candidates_lost(const struct reach_candidates *candidates);
/* Leave out what is lost through a leader that is not kept. */
void reach_candidates_settle(struct reach_candidates *kept);
bool reach_candidates_are_same(const struct reach_candidates *a, const struct reach_candidates *b);
/* The candidate at `address`, or NULL. */
struct reach_candidate *reach_candidates_find(const struct reach_candidates *candidates,
					      uint64_t address);
void reach_candidates_free(struct reach_candidates *candidates);

#endif
