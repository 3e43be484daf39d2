/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds holders of objects of a CPython process: searches backward from the objects, level by
 * level, with one pass over all writable memory per level, until it reaches ends that keep objects
 * alive. Conservative: any word that equals an address counts.
 */
#ifndef PYTHON_PYTHON_GRAPH_H
#define PYTHON_PYTHON_GRAPH_H

#include "python/python_owner.h"

#define PYTHON_NODE_HOLDERS 6

/* A word that points to a node. */
struct python_edge {
	uint32_t holder; /* node */
	uint64_t at; /* address of the word */
	uint64_t value;
	uint32_t times; /* nonzero: number of equal links skipped in a chain */
};

struct python_node {
	struct python_owner owner;
	struct python_edge holders[PYTHON_NODE_HOLDERS];
	uint32_t holder_count;
	uint32_t below; /* the first node that it was found to hold, + 1 */
	/*
	 * Its shortest path to an end, once searched: number of edges, the first of them, kind of
	 * end; 0 = none.
	 */
	uint32_t steps;
	uint8_t way, end;
};

struct python_graph {
	struct python_heap *heap;
	struct python_owners *owners;
	struct python_node *nodes;
	size_t count, capacity;
	struct table by_address; /* node + 1 */
	uint64_t scanned_bytes;
	unsigned int levels;
};

/*
 * Add the object at `address` to the search. Returns its node, or UINT32_MAX if there is no object.
 */
uint32_t python_graph_add(struct python_graph *graph, uint64_t address);

/*
 * Run one pass over the memory, until `until_ns` (CLOCK_MONOTONIC; 0 = no limit), for the nodes
 * from `first` on that are no ends and have no holders yet. False if there are none. The caller
 * sets `heap` and `owners`.
 */
bool python_graph_pass(struct python_graph *graph, size_t first, uint64_t until_ns);

/*
 * Find the shortest paths of all nodes, backward from the ends: first from the strongest kinds of
 * ends, then, for nodes that these do not reach, from each weaker kind.
 */
void python_graph_find_ways(struct python_graph *graph);

/*
 * The shortest path from a node to the strongest kind of end found: `ret_edges` gets at most `max`
 * edges. Returns their number; 0 = none, or a longer one.
 */
size_t python_graph_path(const struct python_graph *graph, uint32_t node,
			 struct python_edge *ret_edges, size_t max);

/*
 * Record an edge's holder for a node, if there is room, or if it is a better end than another
 * holder.
 */
void python_graph_hold(struct python_graph *graph, uint32_t node, const struct python_edge *edge);

void python_graph_free(struct python_graph *graph);

#endif
