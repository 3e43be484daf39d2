/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds objects of a CPython process: from the objects backward, level by level, by one pass over all writable memory for each
 * level, until ends are met that keep what they lead to. Conservative: any word that is an address counts as one.
 */
#ifndef OBJECTS_PYTHON_GRAPH_H
#define OBJECTS_PYTHON_GRAPH_H

#include "objects/python_owner.h"

#define PYTHON_NODE_HOLDERS 6

/* A word that leads to a node. */
struct python_edge {
	uint32_t holder; /* node */
	uint64_t at; /* address of the word */
	uint64_t value;
	uint32_t times; /* not 0: of a chain, so many equal ones further */
};

struct python_node {
	struct python_owner owner;
	struct python_edge holders[PYTHON_NODE_HOLDERS];
	uint32_t holder_count;
	uint32_t below; /* the node that it was found to hold first, + 1 */
	/* Its shortest way to an end, once that was searched: edges, the first one of them, kind of the end; 0 = it has none. */
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

/* Add the object at `address` to those whose references are searched. Returns its node, or UINT32_MAX if there is no object. */
uint32_t python_graph_add(struct python_graph *graph, uint64_t address);

/*
 * One pass over the memory, until `until_ns` (CLOCK_MONOTONIC; 0 = no limit), for the nodes from `first` on that are no ends and have no holders yet. False
 * if there are none. `heap` and `owners` are set by the caller.
 */
bool python_graph_pass(struct python_graph *graph, size_t first, uint64_t until_ns);

/*
 * Find the shortest ways of all nodes, from the ends backward: first from those that keep for sure, then, for nodes that have none of
 * these, from each weaker kind.
 */
void python_graph_find_ways(struct python_graph *graph);

/*
 * The shortest way from a node to an end, the best kind of end that the search has found: `ret_edges` gets at most `max` edges. Returns how
 * many; 0 = there is none, or a longer one.
 */
size_t python_graph_path(const struct python_graph *graph, uint32_t node,
			 struct python_edge *ret_edges, size_t max);

/* Make an edge's holder one of a node's, where it has room for it, or ends the search better than another one. */
void python_graph_hold(struct python_graph *graph, uint32_t node, const struct python_edge *edge);

void python_graph_free(struct python_graph *graph);

#endif
