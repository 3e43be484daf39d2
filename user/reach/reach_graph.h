/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The graph of blocks and pointers: decides which blocks the process can still reach, and which are
 * lost. Pure; blocks are numbers. A pointer to the start of a block reaches it; an interior
 * pointer, or a chain with one, may.
 */
#ifndef REACH_REACH_GRAPH_H
#define REACH_REACH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/leak_report.h"

#define REACH_NOBODY UINT32_MAX

#define REACH_EDGES_NEAR 2 /* edges of a block stored in its node: most blocks have no more */

/* A block, with all that marking needs of it, so that it is one memory access. */
struct reach_node {
	uint32_t edges[REACH_EDGES_NEAR]; /* target << 1 | inner */
	/*
	 * After reach_graph_mark: the previous block on the path from the root; REACH_NOBODY = the
	 * root itself.
	 */
	uint32_t parent;
	/*
	 * Number of `edges`; REACH_EDGES_NEAR + 1: there are more, and edges[0] is the position of
	 * all of them.
	 */
	uint8_t edge_count;
	uint8_t verdict; /* enum leak_verdict */
	uint8_t root; /* enum leak_root that reaches it */
	uint8_t heuristic; /* enum leak_heuristic, if it is reached only by that */
};

/* A block that a root points to. */
struct reach_rooted {
	uint64_t holder; /* address of the word of the strongest root; 0 = not in memory */
	uint32_t block;
	/* Kinds of roots with pointers to the start, and to the inside, as bits. */
	uint16_t starts, inners;
	uint8_t holder_root; /* enum leak_root */
	bool is_sure; /* the holder points to the start */
};

struct reach_edge {
	uint32_t source;
	uint32_t target; /* << 1 | inner */
};

/* An interior pointer that may count as a pointer to the start of its block. */
struct reach_guess {
	uint32_t source; /* a block, or REACH_NOBODY: a live root */
	uint32_t target;
	uint32_t words; /* its offset in the target, in words */
};

struct reach_guesses {
	struct reach_guess *items; /* owned */
	size_t count, capacity;
};

/* Judges them: the heuristic by which one counts, or LEAK_HEURISTIC_NONE. */
struct reach_judge {
	enum leak_heuristic (*judge)(void *context, uint32_t target, uint64_t offset);
	void *context;
};

struct reach_graph {
	size_t count;
	struct reach_node *nodes; /* owned */
	/* Without duplicates until reach_newer_hold; then the last one of a block counts. Owned. */
	struct reach_rooted *rooted;
	size_t rooted_count, rooted_capacity;
	/* Blocks reached only by stale words are lost; set before reach_graph_mark */
	bool forgets_stale;
	/*
	 * NULL = interior pointers never count as pointers to the start. Borrowed; set before
	 * anything is added.
	 */
	const struct reach_judge *judge;
	struct reach_guesses root_guesses, guesses; /* from roots, and from blocks */
	bool guesses_are_cut; /* there were too many; the rest is ignored */
	bool is_cut; /* there were too many edges: verdicts are meaningless */
	struct reach_edge *far; /* edges that did not fit into nodes, until marking; owned */
	size_t far_count, far_capacity;
	size_t crowded_count; /* blocks with such edges */
	uint32_t *lists; /* for each of these: the number of its edges, and all of them; owned */
	/* After reach_graph_mark: the leader of each lost block; NULL = none is lost. Owned. */
	uint32_t *leaders;
};

/* A graph of `count` blocks, fewer than 2^31. Free with reach_graph_free. */
void reach_graph_open(struct reach_graph *graph, size_t count);
void reach_graph_free(struct reach_graph *graph);

/* Add a word at `place`, outside of blocks, that points to block `target`. */
void reach_graph_add_root(struct reach_graph *graph, uint32_t target, bool inner,
			  enum leak_root root, uint64_t place);
/* Add a word of block `source` that points to block `target`. */
void reach_graph_add_edge(struct reach_graph *graph, uint32_t source, uint32_t target, bool inner);

/*
 * Add an interior pointer, besides the edge: a word of block `source`, or of a live root
 * (REACH_NOBODY), that points `offset` bytes into block `target`. Blocks reached by it count as
 * reachable if the judge accepts it as a pointer to the start.
 */
void reach_graph_add_guess(struct reach_graph *graph, uint32_t source, uint32_t target,
			   uint64_t offset);

/*
 * Compute the verdict of each block, and related fields. The leader of an unreachable cycle is its
 * block with the lowest number, so it is always the same one.
 */
void reach_graph_mark(struct reach_graph *graph);

/* After reach_graph_mark: the edges of a block, target << 1 | inner. Returns their number. */
uint32_t reach_graph_edges(const struct reach_graph *graph, uint32_t block,
			   const uint32_t **ret_edges);
/* The leader of a lost block; a leader is its own. */
uint32_t reach_graph_leader(const struct reach_graph *graph, uint32_t block);
/* The root's data of a block; NULL = no root points to it. */
const struct reach_rooted *reach_graph_rooted(const struct reach_graph *graph, uint32_t block);

/*
 * Memory needed for a graph of this many blocks, with three edges each, or two and a root, its
 * index and the list of blocks.
 */
uint64_t reach_graph_need(uint64_t blocks);

#endif
