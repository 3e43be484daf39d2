/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_graph.h. Nothing here calls itself: a list may have as many blocks as there are. */
#include "reach/reach_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

#define ROOT_BIT(root) (1u << (root))
#define GUESSES_MAX (4u << 20) /* 48 MB */

/*
 * What a block costs while edges are sorted: in the list (24), as a node, its offset, in the index (2); and what two edges do, with room for
 * more, in both orders. What marks blocks takes less, and comes when edges are gone.
 */
#define NEED_BLOCK (24 + sizeof(struct reach_node) + sizeof(uint32_t) + 2)
#define NEED_EDGES \
	(2 * (sizeof(struct reach_edge) + sizeof(struct reach_edge) / 4 + sizeof(uint32_t)))

/* How far ahead of what is marked its offsets, its edges, and the blocks that these lead to are read. */
#define AHEAD_OFFSETS 24
#define AHEAD_TARGETS 16
#define AHEAD_NODES 8

/* Marking: blocks that were reached, and whose edges are not followed yet. */
struct marking {
	struct reach_graph *graph;
	uint32_t *queue; /* as many as there are blocks */
	size_t head, tail;
	uint64_t *taken; /* a bit of each block: it has its verdict */
	uint32_t *insiders; /* blocks that were reached, and that lead into others; owned */
	size_t insider_count, insider_capacity;
	uint32_t *cursors; /* of each block: its next edge */
	uint32_t *finished; /* blocks in the order in which all that they lead to was seen */
	size_t finished_count;
};

void reach_graph_open(struct reach_graph *graph, size_t count)
{
	*graph = (struct reach_graph){ .count = count };
	graph->nodes = memory_alloc_large(count + 1, sizeof(*graph->nodes));
}

void reach_graph_free(struct reach_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->offsets);
	free(graph->targets);
	free(graph->rooted);
	free(graph->root_guesses.items);
	free(graph->guesses.items);
	*graph = (struct reach_graph){ 0 };
}

void reach_graph_add_root(struct reach_graph *graph, uint32_t target, bool inner,
			  enum leak_root root, uint64_t place)
{
	struct reach_node *node = &graph->nodes[target];
	bool is_first = !node->starts && !node->inners;

	if (is_first) {
		graph->rooted = memory_grow_large(graph->rooted, graph->rooted_count,
						  &graph->rooted_capacity, sizeof(*graph->rooted));
		graph->rooted[graph->rooted_count++] = target;
	}
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
	graph->is_unordered |= graph->edge_count && last->source > source;
	graph->edges = memory_grow_large(graph->edges, graph->edge_count, &graph->edge_capacity,
					 sizeof(*graph->edges));
	graph->edges[graph->edge_count++] = edge;
}

void reach_graph_add_guess(struct reach_graph *graph, uint32_t source, uint32_t target,
			   uint64_t offset)
{
	struct reach_guesses *guesses = source == REACH_NOBODY ? &graph->root_guesses
							       : &graph->guesses;
	struct reach_guess guess = { source, target, (uint32_t)(offset / sizeof(uint64_t)) };

	if (!graph->judge || source == target || !offset || offset % sizeof(uint64_t) ||
	    offset / sizeof(uint64_t) > UINT32_MAX)
		return;
	if (guesses->count >= GUESSES_MAX) {
		graph->guesses_are_cut = true;
		return;
	}
	guesses->items = memory_grow(guesses->items, guesses->count, &guesses->capacity,
				     sizeof(*guesses->items));
	guesses->items[guesses->count++] = guess;
}

/* Sources ascend: of each edge its target stays, in its place in the list. */
static void graph_keep_targets(struct reach_graph *graph)
{
	uint32_t *targets = &graph->edges[0].source, source = 0;
	size_t i;

	for (i = 0; i < graph->edge_count; i++) {
		while (source < graph->edges[i].source)
			graph->offsets[++source] = (uint32_t)i;
		targets[i] = graph->edges[i].target;
	}
	while (source < graph->count)
		graph->offsets[++source] = (uint32_t)i;
	graph->targets = memory_resize(targets, graph->edge_count, sizeof(*targets));
}

static void graph_sort_targets(struct reach_graph *graph)
{
	uint32_t *offsets = graph->offsets;
	size_t i;

	graph->targets = memory_alloc_large(graph->edge_count + 1, sizeof(*graph->targets));
	for (i = 0; i < graph->edge_count; i++)
		offsets[graph->edges[i].source + 2]++;
	for (i = 2; i <= graph->count; i++)
		offsets[i] += offsets[i - 1];
	for (i = 0; i < graph->edge_count; i++)
		graph->targets[offsets[graph->edges[i].source + 1]++] = graph->edges[i].target;
	free(graph->edges);
}

/* Order the edges by their sources. */
static void graph_sort(struct reach_graph *graph)
{
	graph->offsets = memory_alloc_large(graph->count + 2, sizeof(*graph->offsets));
	if (graph->is_unordered || !graph->edges)
		graph_sort_targets(graph);
	else
		graph_keep_targets(graph);
	graph->edges = NULL;
	graph->edge_capacity = 0;
}

static bool marking_is_free(const struct marking *marking, uint32_t block)
{
	return !(marking->taken[block / 64] >> block % 64 & 1);
}

static void marking_take(struct marking *marking, uint32_t block, enum leak_verdict verdict,
			 uint32_t parent)
{
	struct reach_node *node = &marking->graph->nodes[block];

	marking->taken[block / 64] |= 1ull << block % 64;
	node->verdict = (uint8_t)verdict;
	node->parent = parent;
	node->leader = REACH_NOBODY;
	node->heuristic = LEAK_HEURISTIC_NONE;
	node->root = parent == REACH_NOBODY ? node->holder_root
					    : marking->graph->nodes[parent].root;
	marking->queue[marking->tail++] = block;
}

/* The next one in the queue. Where a block leads is nowhere near it: so that is read before its turn comes, of some at a time. */
static uint32_t marking_next(struct marking *marking)
{
	const struct reach_graph *graph = marking->graph;
	const uint32_t *queue = &marking->queue[marking->head];
	size_t left = marking->tail - marking->head;
	uint32_t at;

	if (left > AHEAD_OFFSETS)
		__builtin_prefetch(&graph->offsets[queue[AHEAD_OFFSETS]]);
	if (left > AHEAD_TARGETS)
		__builtin_prefetch(&graph->targets[graph->offsets[queue[AHEAD_TARGETS]]]);
	if (left > AHEAD_NODES) {
		at = graph->offsets[queue[AHEAD_NODES]];
		if (at < graph->offsets[queue[AHEAD_NODES] + 1])
			__builtin_prefetch(&graph->nodes[graph->targets[at] >> 1], 1);
	}
	return marking->queue[marking->head++];
}

/* Follow the edges of what is in the queue; `sure`: those that lead to starts only. */
static void marking_follow(struct marking *marking, enum leak_verdict verdict, bool sure)
{
	const struct reach_graph *graph = marking->graph;
	bool is_insider;
	uint32_t i, at;

	while (marking->head < marking->tail) {
		i = marking_next(marking);
		is_insider = false;
		for (at = graph->offsets[i]; at < graph->offsets[i + 1]; at++) {
			if (!marking_is_free(marking, graph->targets[at] >> 1))
				continue;
			if (sure && graph->targets[at] & 1)
				is_insider = true;
			else
				marking_take(marking, graph->targets[at] >> 1, verdict, i);
		}
		if (!is_insider)
			continue;
		marking->insiders = memory_grow_large(marking->insiders, marking->insider_count,
						      &marking->insider_capacity,
						      sizeof(*marking->insiders));
		marking->insiders[marking->insider_count++] = i;
	}
}

static void marking_reachable(struct marking *marking)
{
	struct reach_graph *graph = marking->graph;
	enum leak_root root;
	uint32_t block;
	size_t i;

	for (root = 0; root < LEAK_ROOTS_LIVE; root++) {
		for (i = 0; i < graph->rooted_count; i++) {
			block = graph->rooted[i];
			if (!(graph->nodes[block].starts & ROOT_BIT(root)) ||
			    !marking_is_free(marking, block))
				continue;
			marking_take(marking, block, LEAK_REACHABLE, REACH_NOBODY);
			graph->nodes[block].root = (uint8_t)root;
		}
		marking_follow(marking, LEAK_REACHABLE, true);
	}
}

/* Blocks that a root of `roots` leads into, and all that they lead to. */
static void marking_weak(struct marking *marking, unsigned int roots, enum leak_verdict verdict)
{
	const struct reach_graph *graph = marking->graph;
	unsigned int found;
	uint32_t block;
	size_t i;

	for (i = 0; i < graph->rooted_count; i++) {
		block = graph->rooted[i];
		found = (graph->nodes[block].starts | graph->nodes[block].inners) & roots;
		if (!found || !marking_is_free(marking, block))
			continue;
		marking_take(marking, block, verdict, REACH_NOBODY);
		graph->nodes[block].root = (uint8_t)__builtin_ctz(found);
	}
	marking_follow(marking, verdict, false);
}

static void marking_guess(struct marking *marking, const struct reach_guess *guess)
{
	const struct reach_judge *judge = marking->graph->judge;
	struct reach_node *node = &marking->graph->nodes[guess->target];
	enum leak_heuristic heuristic;

	if (!marking_is_free(marking, guess->target))
		return;
	heuristic = judge->judge(judge->context, guess->target,
				 (uint64_t)guess->words * sizeof(uint64_t));
	if (heuristic == LEAK_HEURISTIC_NONE)
		return;
	marking_take(marking, guess->target, LEAK_REACHABLE, guess->source);
	node->heuristic = heuristic & 0x7f;
	if (guess->source == REACH_NOBODY)
		node->root = (uint8_t)__builtin_ctz(node->inners);
}

static int guess_compare(const void *a, const void *b)
{
	const struct reach_guess *left = a, *right = b;

	return compare_numbers(left->source, right->source);
}

/* The first of them that is of `source`, or of one behind it. They are in the order of sources. */
static size_t guesses_find(const struct reach_guesses *guesses, uint32_t source)
{
	size_t low = 0, high = guesses->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (guesses->items[middle].source < source)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What starts lead to, too, is reached without a heuristic. */
static void marking_forget_heuristics(const struct marking *marking, size_t begin)
{
	const struct reach_graph *graph = marking->graph;
	uint32_t at, block;

	for (; begin < marking->tail; begin++) {
		block = marking->queue[begin];
		for (at = graph->offsets[block]; at < graph->offsets[block + 1]; at++)
			if (!(graph->targets[at] & 1))
				graph->nodes[graph->targets[at] >> 1].heuristic =
					LEAK_HEURISTIC_NONE;
	}
}

/* Behind what starts lead to: words that lead into blocks, and count as pointers to their starts. */
static void marking_guesses(struct marking *marking)
{
	struct reach_guesses *guesses = &marking->graph->guesses;
	const struct reach_guesses *roots = &marking->graph->root_guesses;
	const size_t begin = marking->tail;
	size_t i, at, done = 0;
	uint32_t block;

	if (marking->graph->is_unordered && guesses->count)
		qsort(guesses->items, guesses->count, sizeof(*guesses->items), guess_compare);
	for (i = 0; i < roots->count; i++)
		marking_guess(marking, &roots->items[i]);
	marking_follow(marking, LEAK_REACHABLE, true);
	while (guesses->count && done < marking->insider_count) {
		block = marking->insiders[done++];
		for (at = guesses_find(guesses, block);
		     at < guesses->count && guesses->items[at].source == block; at++)
			marking_guess(marking, &guesses->items[at]);
		marking_follow(marking, LEAK_REACHABLE, true);
	}
	marking_forget_heuristics(marking, begin);
}

/* What is reached leads into these. */
static void marking_inner(struct marking *marking)
{
	const struct reach_graph *graph = marking->graph;
	uint32_t at, block;
	size_t i;

	for (i = 0; i < marking->insider_count; i++) {
		block = marking->insiders[i];
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
	marking.queue = memory_alloc_large(graph->count + 1, sizeof(*marking.queue));
	marking.taken = memory_alloc(graph->count / 64 + 1, sizeof(*marking.taken));
	marking_reachable(&marking);
	if (graph->judge)
		marking_guesses(&marking);
	marking_inner(&marking);
	marking_weak(&marking, ROOT_BIT(LEAK_ROOTS_LIVE) - 1, LEAK_POSSIBLE);
	if (!graph->forgets_stale)
		marking_weak(&marking, ~(ROOT_BIT(LEAK_ROOTS_LIVE) - 1), LEAK_STALE);
	marking_lost(&marking);
	free(marking.queue);
	free(marking.taken);
	free(marking.insiders);
}

uint64_t reach_graph_need(uint64_t blocks)
{
	return blocks * (NEED_BLOCK + NEED_EDGES);
}
