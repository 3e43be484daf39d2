/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intersects lost blocks over several passes through a running process. A truly lost block does not
 * change: it is lost in each pass, through the same leader, with the same contents. A block of a
 * list whose head was missed has a different leader each time.
 */
#ifndef REACH_REACH_FOLLOW_H
#define REACH_REACH_FOLLOW_H

#include "image/image.h"
#include "reach/reach_graph.h"
#include "reach/reach_index.h"

struct reach_candidate {
	uint64_t address, size;
	uint64_t leader; /* address of its leader; 0 = only possibly lost */
	uint32_t hash; /* of its first bytes, if it is lost */
	uint8_t verdict; /* LEAK_DEFINITE, LEAK_INDIRECT or LEAK_POSSIBLE */
	uint8_t encoded; /* enum reach_code of an encoded pointer found; 0 = none */
	uint8_t before; /* enum leak_before, if there was an earlier look */
	bool seen; /* reach_candidates_check_moving has found it */
};

/* In address order. {0} is empty. */
struct reach_candidates {
	struct reach_candidate *items; /* owned */
	size_t count, capacity;
};

/* Collect all blocks of a pass that are lost, or possibly lost. */
void reach_candidates_take(struct reach_candidates *candidates, const struct reach_blocks *blocks,
			   const struct reach_graph *graph, struct image *image);
/* Keep only candidates that are candidates in this pass, too. */
void reach_candidates_meet(struct reach_candidates *kept, const struct reach_candidates *pass);
/* Keep only candidates that are still blocks of the same size. `blocks` are in address order. */
void reach_candidates_check(struct reach_candidates *kept, const struct reach_blocks *blocks);
/*
 * The same while blocks move: candidates in `unknown` ranges stay, and one that is lost has the contents that it had. Returns how many
 * were not seen so far, in any of these checks.
 */
size_t reach_candidates_check_moving(struct reach_candidates *kept,
				     const struct reach_blocks *blocks,
				     const struct reach_blocks *unknown, struct image *image);
/* Keep only candidates that were seen. */
void reach_candidates_drop_unseen(struct reach_candidates *kept);
/* Remove candidates that the graph of a pass has found in use since. */
void reach_candidates_drop_held(struct reach_candidates *kept, const struct reach_blocks *blocks,
				const struct reach_graph *graph);
/* Number of definitely lost candidates. */
size_t reach_candidates_lost(const struct reach_candidates *candidates);
/* Remove candidates whose leader was removed. */
void reach_candidates_settle(struct reach_candidates *kept);
bool reach_candidates_are_same(const struct reach_candidates *a, const struct reach_candidates *b);
/* The candidate at `address`, or NULL. */
struct reach_candidate *reach_candidates_find(const struct reach_candidates *candidates,
					      uint64_t address);
void reach_candidates_free(struct reach_candidates *candidates);

#endif
