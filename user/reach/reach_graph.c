/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_graph.h. Nothing here calls itself: a list may have as many blocks as there are. */
#include "reach/reach_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ROOT_BIT(root) (1u << (root))

/* What a block costs: in the list (24), as a node, in the index, in what marks it; and what two edges do. */
#define NEED_BLOCK (24 + sizeof(struct reach_node) + 16 + 16)
#define NEED_EDGES (2 * (2 * sizeof(struct reach_edge) + sizeof(uint32_t)))

/* Marking: blocks that were reached, and whose edges are not followed yet. */
struct marking {
	struct reach_graph *graph;
	uint32_t *queue; /* as many as there are blocks */
	size_t head, tail;
	uint32_t *cursors; /* of each block: its next edge */
	uint32_t *finished; /* blocks in the order in which all that they lead to was seen */
	size_t finished_count;
};

void reach_graph_open(struct reach_graph *graph, size_t count)
{
	size_t i;

	*graph = (struct reach_graph){ .count = count };
	graph->nodes = memory_alloc(count + 1, sizeof(*graph->nodes));
	for (i = 0; i < count; i++)
		graph->nodes[i].parent = graph->nodes[i].leader = REACH_NOBODY;
}

void reach_graph_free(struct reach_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->offsets);
	free(graph->targets);
	*graph = (struct reach_graph){ 0 };
}

void reach_graph_add_root(struct reach_graph *graph, uint32_t target, bool inner,
			  enum leak_root root, uint64_t place)
{
	struct reach_node *node = &graph->nodes[target];
	bool is_first = !node->starts && !node->inners;

	if (is_first || (!inner && !node->is_sure) ||
	    (inner != node->is_sure && root < node->holder_root)) {
		node->holder_root = (uint8_t)root;
		node->holder = place;
		node->is_sure = !inner;
	}
	if (inner)
		node->inners |= (uint16_t)ROOT_BIT(root);
	else
		node->starts |= (uint16_t)ROOT_BIT(root);
}

void reach_graph_add_edge(struct reach_graph *graph, uint32_t source, uint32_t target, bool inner)
{
	struct reach_edge edge = { source, target << 1 | inner };
	const struct reach_edge *last = graph->edge_count ? &graph->edges[graph->edge_count - 1]
							  : NULL;

	if (source == target ||
	    (graph->edge_count && last->source == source && last->target == edge.target))
		return;
	if (graph->edge_count >= UINT32_MAX - 1) {
		graph->is_cut = true;
		return;
	}
	graph->edges = memory_grow(graph->edges, graph->edge_count, &graph->edge_capacity,
				   sizeof(*graph->edges));
	graph->edges[graph->edge_count++] = edge;
}

/* Order the edges by their sources. */
static void graph_sort(struct reach_graph *graph)
{
	uint32_t *offsets = memory_alloc(graph->count + 2, sizeof(*offsets));
	uint32_t *targets = memory_alloc(graph->edge_count + 1, sizeof(*targets));
	size_t i;

	for (i = 0; i < graph->edge_count; i++)
		offsets[graph->edges[i].source + 2]++;
	for (i = 2; i <= graph->count; i++)
		offsets[i] += offsets[i - 1];
	for (i = 0; i < graph->edge_count; i++)
		targets[offsets[graph->edges[i].source + 1]++] = graph->edges[i].target;
	free(graph->edges);
	graph->edges = NULL;
	graph->edge_capacity = 0;
	graph->offsets = offsets;
	graph->targets = targets;
}

static bool marking_is_free(const struct marking *marking, uint32_t block)
{
	return marking->graph->nodes[block].verdict == LEAK_UNJUDGED;
}

static void marking_take(struct marking *marking, uint32_t block, enum leak_verdict verdict,
			 uint32_t parent)
{
	struct reach_node *node = &marking->graph->nodes[block];

	node->verdict = (uint8_t)verdict;
	node->parent = parent;
	node->root = parent == REACH_NOBODY ? node->holder_root
					    : marking->graph->nodes[parent].root;
	marking->queue[marking->tail++] = block;
}

/* Follow the edges of what is in the queue; `sure`: those that lead to starts only. */
static void marking_follow(struct marking *marking, enum leak_verdict verdict, bool sure)
{
	const struct reach_graph *graph = marking->graph;
	uint32_t i, at;

	while (marking->head < marking->tail) {
		i = marking->queue[marking->head++];
		for (at = graph->offsets[i]; at < graph->offsets[i + 1]; at++)
			if (!(sure && graph->targets[at] & 1) &&
			    marking_is_free(marking, graph->targets[at] >> 1))
				marking_take(marking, graph->targets[at] >> 1, verdict, i);
	}
}

static void marking_reachable(struct marking *marking)
{
	struct reach_graph *graph = marking->graph;
	enum leak_root root;
	size_t i;

	for (root = 0; root < LEAK_ROOTS_LIVE; root++) {
		for (i = 0; i < graph->count; i++)
			if (graph->nodes[i].starts & ROOT_BIT(root) &&
			    marking_is_free(marking, (uint32_t)i)) {
				marking_take(marking, (uint32_t)i, LEAK_REACHABLE, REACH_NOBODY);
				graph->nodes[i].root = (uint8_t)root;
			}
		marking_follow(marking, LEAK_REACHABLE, true);
	}
}

/* Blocks that a root of `roots` leads into, and all that they lead to. */
static void marking_weak(struct marking *marking, unsigned int roots, enum leak_verdict verdict)
{
	const struct reach_graph *graph = marking->graph;
	unsigned int found;
	size_t i;

	for (i = 0; i < graph->count; i++) {
		found = (graph->nodes[i].starts | graph->nodes[i].inners) & roots;
		if (!found || !marking_is_free(marking, (uint32_t)i))
			continue;
		marking_take(marking, (uint32_t)i, verdict, REACH_NOBODY);
		graph->nodes[i].root = (uint8_t)__builtin_ctz(found);
	}
	marking_follow(marking, verdict, false);
}

/* What is reached leads into these. */
static void marking_inner(struct marking *marking)
{
	const struct reach_graph *graph = marking->graph;
	size_t i, reached = marking->tail;
	uint32_t at;

	for (i = 0; i < reached; i++) {
		uint32_t block = marking->queue[i];

		for (at = graph->offsets[block]; at < graph->offsets[block + 1]; at++)
			if (marking_is_free(marking, graph->targets[at] >> 1))
				marking_take(marking, graph->targets[at] >> 1, LEAK_POSSIBLE,
					     block);
	}
	marking_follow(marking, LEAK_POSSIBLE, false);
}

/* Depth first from `block` on. What is seen has its cursor behind the start of its edges, plus one. */
static void marking_descend(struct marking *marking, uint32_t block)
{
	const struct reach_graph *graph = marking->graph;
	uint32_t *path = marking->queue, target;
	size_t depth = 1;

	path[0] = block;
	marking->cursors[block] = 1;
	while (depth) {
		block = path[depth - 1];
		if (graph->offsets[block] + marking->cursors[block] - 1 ==
		    graph->offsets[block + 1]) {
			marking->finished[marking->finished_count++] = block;
			depth--;
			continue;
		}
		target = graph->targets[graph->offsets[block] + marking->cursors[block]++ - 1] >> 1;
		if (marking_is_free(marking, target) && !marking->cursors[target]) {
			marking->cursors[target] = 1;
			path[depth++] = target;
		}
	}
}

/* All that only this one leads to, or it before others. */
static void marking_claim(struct marking *marking, uint32_t leader)
{
	struct reach_node *nodes = marking->graph->nodes;
	size_t i;

	marking->head = marking->tail = 0;
	marking_take(marking, leader, LEAK_INDIRECT, REACH_NOBODY);
	marking_follow(marking, LEAK_INDIRECT, false);
	for (i = 0; i < marking->tail; i++)
		nodes[marking->queue[i]].leader = leader;
	nodes[leader].verdict = LEAK_DEFINITE;
}

static void marking_lost(struct marking *marking)
{
	const size_t count = marking->graph->count;
	size_t i;

	marking->cursors = memory_alloc(count + 1, sizeof(*marking->cursors));
	marking->finished = memory_alloc(count + 1, sizeof(*marking->finished));
	/* Upward: of a cycle, the lowest one is entered first, and finished last. */
	for (i = 0; i < count; i++)
		if (marking_is_free(marking, (uint32_t)i) && !marking->cursors[i])
			marking_descend(marking, (uint32_t)i);
	for (i = marking->finished_count; i--;)
		if (marking_is_free(marking, marking->finished[i]))
			marking_claim(marking, marking->finished[i]);
	free(marking->cursors);
	free(marking->finished);
}

void reach_graph_mark(struct reach_graph *graph)
{
	struct marking marking = { .graph = graph };

	graph_sort(graph);
	marking.queue = memory_alloc(graph->count + 1, sizeof(*marking.queue));
	marking_reachable(&marking);
	marking_inner(&marking);
	marking_weak(&marking, ROOT_BIT(LEAK_ROOTS_LIVE) - 1, LEAK_POSSIBLE);
	if (!graph->forgets_stale)
		marking_weak(&marking, ~(ROOT_BIT(LEAK_ROOTS_LIVE) - 1), LEAK_STALE);
	marking_lost(&marking);
	free(marking.queue);
}

uint64_t reach_graph_need(uint64_t blocks)
{
	return blocks * (NEED_BLOCK + NEED_EDGES);
}
