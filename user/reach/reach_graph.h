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

/* Of a block. */
struct reach_node {
	uint64_t holder; /* where a word is that leads here, of the strongest root; 0 = none */
	/* Kinds of roots with a pointer to the start, and to the inside, as bits. */
	uint16_t starts, inners;
	uint8_t holder_root; /* enum leak_root */
	uint8_t verdict; /* enum leak_verdict */
	uint8_t root; /* enum leak_root, of what is reached */
	uint8_t is_sure : 1; /* the holder leads to the start */
	uint8_t heuristic : 7; /* enum leak_heuristic, by which alone it is reached */
	/* After reach_graph_mark. The block on the way from the root; REACH_NOBODY = the root itself. */
	uint32_t parent;
	/* Of what is lost: the block through which alone it is; itself, of such a one. Else REACH_NOBODY. */
	uint32_t leader;
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
	struct reach_edge *edges; /* owned, until they are marked */
	size_t edge_count, edge_capacity;
	bool forgets_stale; /* blocks that only stale words lead to are lost; set it before reach_graph_mark */
	bool is_unordered; /* their sources do not ascend */
	/* NULL = what leads into blocks never counts as a pointer to their starts. Borrowed; set it before anything is added. */
	const struct reach_judge *judge;
	struct reach_guesses root_guesses, guesses; /* of roots, and of blocks */
	bool guesses_are_cut; /* there were too many: the others do not count */
	uint32_t *rooted; /* blocks that a root leads to, each once; owned */
	size_t rooted_count, rooted_capacity;
	bool is_cut; /* there were too many edges: verdicts mean nothing */
	/* After reach_graph_mark: those of block i are targets[offsets[i]] to targets[offsets[i + 1]]. Owned. */
	uint32_t *offsets, *targets;
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

/* How much memory a graph of so many blocks takes, with two edges each, and its index. */
uint64_t reach_graph_need(uint64_t blocks);

#endif
