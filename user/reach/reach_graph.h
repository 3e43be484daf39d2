/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks, the words that lead to them, and what follows: which blocks the process can still reach, and which are lost. Pure; blocks are
 * numbers. A pointer to the start of a block leads to it; one to its inside, or a chain with such a one, may.
 */
#ifndef REACH_REACH_GRAPH_H
#define REACH_REACH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/leak_report.h"

#define REACH_NOBODY UINT32_MAX

#define REACH_EDGES_NEAR 2 /* of a block, that are in its node: most blocks have no more */

/* Of a block: all that marking needs of it, so that it is waited for once. */
struct reach_node {
	uint32_t edges[REACH_EDGES_NEAR]; /* target << 1 | inner */
	/* After reach_graph_mark: the block on the way from the root; REACH_NOBODY = the root itself. */
	uint32_t parent;
	/* How many `edges`; REACH_EDGES_NEAR + 1: there are more, and edges[0] is where all of them are. */
	uint8_t edge_count;
	uint8_t verdict; /* enum leak_verdict */
	uint8_t root; /* enum leak_root, of what is reached */
	uint8_t heuristic; /* enum leak_heuristic, by which alone it is reached */
};

/* A block that a root leads to. */
struct reach_rooted {
	uint64_t holder; /* where the word of the strongest root is; 0 = in no memory */
	uint32_t block;
	/* Kinds of roots with a pointer to the start, and to the inside, as bits. */
	uint16_t starts, inners;
	uint8_t holder_root; /* enum leak_root */
	bool is_sure; /* the holder leads to the start */
};

struct reach_edge {
	uint32_t source;
	uint32_t target; /* << 1 | inner */
};

/* A word that leads into a block, and may count as a pointer to its start. */
struct reach_guess {
	uint32_t source; /* a block, or REACH_NOBODY: a root that is alive */
	uint32_t target;
	uint32_t words; /* how far into the target */
};

struct reach_guesses {
	struct reach_guess *items; /* owned */
	size_t count, capacity;
};

/* Who decides about them: by which heuristic one counts, or LEAK_HEURISTIC_NONE. */
struct reach_judge {
	enum leak_heuristic (*judge)(void *context, uint32_t target, uint64_t offset);
	void *context;
};

struct reach_graph {
	size_t count;
	struct reach_node *nodes; /* owned */
	struct reach_rooted *rooted; /* each once; owned */
	size_t rooted_count, rooted_capacity;
	bool forgets_stale; /* blocks that only stale words lead to are lost; set it before reach_graph_mark */
	/* NULL = what leads into blocks never counts as a pointer to their starts. Borrowed; set it before anything is added. */
	const struct reach_judge *judge;
	struct reach_guesses root_guesses, guesses; /* of roots, and of blocks */
	bool guesses_are_cut; /* there were too many: the others do not count */
	bool is_cut; /* there were too many edges: verdicts mean nothing */
	struct reach_edge *far; /* edges that are in no node, until they are marked; owned */
	size_t far_count, far_capacity;
	size_t crowded_count; /* blocks with such edges */
	uint32_t *lists; /* of each of these: the number of its edges, and all of them; owned */
	/* After reach_graph_mark: of each block that is lost; NULL = none is. Owned. */
	uint32_t *leaders;
};

/* Of `count` blocks, fewer than 2^31. Free with reach_graph_free. */
void reach_graph_open(struct reach_graph *graph, size_t count);
void reach_graph_free(struct reach_graph *graph);

/* The word at `place`, which is no block's, leads to block `target`. */
void reach_graph_add_root(struct reach_graph *graph, uint32_t target, bool inner,
			  enum leak_root root, uint64_t place);
/* A word of block `source` leads to block `target`. */
void reach_graph_add_edge(struct reach_graph *graph, uint32_t source, uint32_t target, bool inner);

/*
 * Besides: a word of block `source`, or of a root that is alive (REACH_NOBODY), that leads `offset` bytes into block `target`. What is reached by
 * it counts as reachable, if the judge takes it for a pointer to the start.
 */
void reach_graph_add_guess(struct reach_graph *graph, uint32_t source, uint32_t target,
			   uint64_t offset);

/*
 * Give each block its verdict, and what belongs to it. Of a cycle that nothing leads to, the block with the lowest number is the leader: so
 * it is the same one whenever the cycle is.
 */
void reach_graph_mark(struct reach_graph *graph);

/* Of a block that is lost: the one through which alone it is; itself, of such a one. */
uint32_t reach_graph_leader(const struct reach_graph *graph, uint32_t block);
/* NULL = no root leads to it. */
const struct reach_rooted *reach_graph_rooted(const struct reach_graph *graph, uint32_t block);

/* How much memory a graph of so many blocks takes, with three edges each, or two and a root, its index and the list of blocks. */
uint64_t reach_graph_need(uint64_t blocks);

#endif
