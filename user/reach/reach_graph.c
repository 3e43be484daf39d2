/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_graph.h. Nothing here calls itself: a list may have as many blocks as there are. */
#include "reach/reach_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "reach/reach_blocks.h"

#define ROOT_BIT(root) (1u << (root))
#define GUESSES_MAX (4u << 20) /* 48 MB */

/*
 * What a block costs: in the list, as a node, in the index (2), and as one that a root leads to, with room for more; a third edge takes less, in both
 * orders. What marks blocks takes less, and comes when edges have their order.
 */
#define NEED_BLOCK (sizeof(struct reach_block) + sizeof(struct reach_node) + 2)
#define NEED_ROOT (sizeof(struct reach_rooted) + sizeof(struct reach_rooted) / 4)

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
	free(graph->rooted);
	free(graph->root_guesses.items);
	free(graph->guesses.items);
	free(graph->far);
	free(graph->lists);
	free(graph->leaders);
	*graph = (struct reach_graph){ 0 };
}

/* Before marking, the parent of a node is its position in `rooted`, plus one. */
static struct reach_rooted *graph_root(struct reach_graph *graph, uint32_t target)
{
	struct reach_node *node = &graph->nodes[target];

	if (!node->parent) {
		graph->rooted = memory_grow_large(graph->rooted, graph->rooted_count,
						  &graph->rooted_capacity, sizeof(*graph->rooted));
		graph->rooted[graph->rooted_count++] = (struct reach_rooted){ .block = target };
		node->parent = (uint32_t)graph->rooted_count;
	}
	return &graph->rooted[node->parent - 1];
}

void reach_graph_add_root(struct reach_graph *graph, uint32_t target, bool inner,
			  enum leak_root root, uint64_t place)
{
	struct reach_rooted *rooted = graph_root(graph, target);

	if ((!rooted->starts && !rooted->inners) || (!inner && !rooted->is_sure) ||
	    (inner != rooted->is_sure && root < rooted->holder_root)) {
		rooted->holder_root = (uint8_t)root;
		rooted->holder = place;
		rooted->is_sure = !inner;
	}
	if (inner)
		rooted->inners |= (uint16_t)ROOT_BIT(root);
	else
		rooted->starts |= (uint16_t)ROOT_BIT(root);
}

static void graph_add_far(struct reach_graph *graph, struct reach_node *node,
			  const struct reach_edge *edge)
{
	const struct reach_edge *last = graph->far_count ? &graph->far[graph->far_count - 1] : NULL;

	if (last && last->source == edge->source && last->target == edge->target)
		return;
	/* Positions in the lists have 32 bits. */
	if (graph->far_count + (REACH_EDGES_NEAR + 1) * (graph->crowded_count + 1) >= UINT32_MAX) {
		graph->is_cut = true;
		return;
	}
	graph->crowded_count += node->edge_count == REACH_EDGES_NEAR;
	node->edge_count = REACH_EDGES_NEAR + 1;
	graph->far = memory_grow_large(graph->far, graph->far_count, &graph->far_capacity,
				       sizeof(*graph->far));
	graph->far[graph->far_count++] = *edge;
}

void reach_graph_add_edge(struct reach_graph *graph, uint32_t source, uint32_t target, bool inner)
{
	struct reach_node *node = &graph->nodes[source];
	const struct reach_edge edge = { source, target << 1 | inner };

	if (source == target || (node->edge_count && node->edges[0] == edge.target) ||
	    (node->edge_count > 1 && node->edges[1] == edge.target))
		return;
	if (node->edge_count < REACH_EDGES_NEAR)
		node->edges[node->edge_count++] = edge.target;
	else
		graph_add_far(graph, node, &edge);
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

/* Of blocks with far edges, all are put together, in the order of blocks. Parents are in use for how many there are, and where the next one goes. */
static void graph_sort(struct reach_graph *graph)
{
	struct reach_node *node;
	uint32_t *list, far;
	size_t i, at = 0;

	for (i = 0; i < graph->rooted_count; i++)
		graph->nodes[graph->rooted[i].block].parent = 0;
	if (!graph->far_count)
		return;
	for (i = 0; i < graph->far_count; i++)
		graph->nodes[graph->far[i].source].parent++;
	graph->lists =
		memory_alloc_large(graph->far_count + (REACH_EDGES_NEAR + 1) * graph->crowded_count,
				   sizeof(*graph->lists));
	for (i = 0; i < graph->count; i++) {
		node = &graph->nodes[i];
		if (node->edge_count <= REACH_EDGES_NEAR)
			continue;
		list = &graph->lists[at];
		far = node->parent;
		list[0] = REACH_EDGES_NEAR + far;
		memcpy(list + 1, node->edges, sizeof(node->edges));
		node->edges[0] = (uint32_t)at;
		node->parent = (uint32_t)at + 1 + REACH_EDGES_NEAR;
		at = node->parent + far;
	}
	for (i = 0; i < graph->far_count; i++)
		graph->lists[graph->nodes[graph->far[i].source].parent++] = graph->far[i].target;
	free(graph->far);
	graph->far = NULL;
	graph->far_count = graph->far_capacity = 0;
}

uint32_t reach_graph_edges(const struct reach_graph *graph, uint32_t block,
			   const uint32_t **ret_edges)
{
	const struct reach_node *node = &graph->nodes[block];

	*ret_edges = node->edges;
	if (node->edge_count <= REACH_EDGES_NEAR)
		return node->edge_count;
	*ret_edges = &graph->lists[node->edges[0] + 1];
	return (*ret_edges)[-1];
}

static bool marking_is_free(const struct marking *marking, uint32_t block)
{
	return !(marking->taken[block / 64] >> block % 64 & 1);
}

static void marking_take(struct marking *marking, uint32_t block, enum leak_verdict verdict,
			 uint32_t parent, uint8_t root)
{
	struct reach_node *node = &marking->graph->nodes[block];

	marking->taken[block / 64] |= 1ull << block % 64;
	node->verdict = (uint8_t)verdict;
	node->parent = parent;
	node->root = root;
	node->heuristic = LEAK_HEURISTIC_NONE;
	marking->queue[marking->tail++] = block;
}

/* Follow the edges of what is in the queue; `sure`: those that lead to starts only. */
static void marking_follow(struct marking *marking, enum leak_verdict verdict, bool sure)
{
	const struct reach_graph *graph = marking->graph;
	const uint32_t *edges;
	uint32_t block, count, i;
	bool is_insider;

	while (marking->head < marking->tail) {
		block = marking->queue[marking->head++];
		count = reach_graph_edges(graph, block, &edges);
		is_insider = false;
		for (i = 0; i < count; i++) {
			if (!marking_is_free(marking, edges[i] >> 1))
				continue;
			if (sure && edges[i] & 1)
				is_insider = true;
			else
				marking_take(marking, edges[i] >> 1, verdict, block,
					     graph->nodes[block].root);
		}
		if (!is_insider)
			continue;
		marking->insiders = memory_grow_large(marking->insiders, marking->insider_count,
						      &marking->insider_capacity,
						      sizeof(*marking->insiders));
		marking->insiders[marking->insider_count++] = block;
	}
}

static void marking_reachable(struct marking *marking)
{
	const struct reach_graph *graph = marking->graph;
	const struct reach_rooted *rooted;
	enum leak_root root;
	size_t i;

	for (root = 0; root < LEAK_ROOTS_LIVE; root++) {
		for (i = 0; i < graph->rooted_count; i++) {
			rooted = &graph->rooted[i];
			if (rooted->starts & ROOT_BIT(root) &&
			    marking_is_free(marking, rooted->block))
				marking_take(marking, rooted->block, LEAK_REACHABLE, REACH_NOBODY,
					     (uint8_t)root);
		}
		marking_follow(marking, LEAK_REACHABLE, true);
	}
}

/* Blocks that a root of `roots` leads into, and all that they lead to. */
static void marking_weak(struct marking *marking, unsigned int roots, enum leak_verdict verdict)
{
	const struct reach_graph *graph = marking->graph;
	const struct reach_rooted *rooted;
	unsigned int found;
	size_t i;

	for (i = 0; i < graph->rooted_count; i++) {
		rooted = &graph->rooted[i];
		found = (rooted->starts | rooted->inners) & roots;
		if (found && marking_is_free(marking, rooted->block))
			marking_take(marking, rooted->block, verdict, REACH_NOBODY,
				     (uint8_t)__builtin_ctz(found));
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
	marking_take(marking, guess->target, LEAK_REACHABLE, guess->source,
		     guess->source == REACH_NOBODY ? node->root
						   : marking->graph->nodes[guess->source].root);
	node->heuristic = (uint8_t)heuristic;
}

static int guess_compare(const void *a, const void *b)
{
	const struct reach_guess *left = a, *right = b;

	return compare_numbers(left->source, right->source);
}

/* In the order of sources, as they are already where memory was read upward. */
static void guesses_sort(struct reach_guesses *guesses)
{
	size_t i;

	for (i = 1; i < guesses->count; i++)
		if (guesses->items[i].source < guesses->items[i - 1].source) {
			qsort(guesses->items, guesses->count, sizeof(*guesses->items),
			      guess_compare);
			return;
		}
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
	const uint32_t *edges;
	uint32_t count, i;

	for (; begin < marking->tail; begin++) {
		count = reach_graph_edges(graph, marking->queue[begin], &edges);
		for (i = 0; i < count; i++)
			if (!(edges[i] & 1))
				graph->nodes[edges[i] >> 1].heuristic = LEAK_HEURISTIC_NONE;
	}
}

/* Blocks that are free have the root that leads into them, for a guess by which they are reached. */
static void marking_set_roots(struct marking *marking)
{
	const struct reach_graph *graph = marking->graph;
	const struct reach_rooted *rooted;
	size_t i;

	for (i = 0; i < graph->rooted_count; i++) {
		rooted = &graph->rooted[i];
		if (rooted->inners && marking_is_free(marking, rooted->block))
			graph->nodes[rooted->block].root = (uint8_t)__builtin_ctz(rooted->inners);
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

	guesses_sort(guesses);
	marking_set_roots(marking);
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
	const uint32_t *edges;
	uint32_t block, count, n;
	size_t i;

	for (i = 0; i < marking->insider_count; i++) {
		block = marking->insiders[i];
		count = reach_graph_edges(graph, block, &edges);
		for (n = 0; n < count; n++)
			if (marking_is_free(marking, edges[n] >> 1))
				marking_take(marking, edges[n] >> 1, LEAK_POSSIBLE, block,
					     graph->nodes[block].root);
	}
	marking_follow(marking, LEAK_POSSIBLE, false);
}

/* Depth first from `block` on. What is seen has its cursor behind the start of its edges, plus one. */
static void marking_descend(struct marking *marking, uint32_t block)
{
	const struct reach_graph *graph = marking->graph;
	uint32_t *path = marking->queue, target;
	const uint32_t *edges;
	size_t depth = 1;

	path[0] = block;
	marking->cursors[block] = 1;
	while (depth) {
		block = path[depth - 1];
		if (marking->cursors[block] > reach_graph_edges(graph, block, &edges)) {
			marking->finished[marking->finished_count++] = block;
			depth--;
			continue;
		}
		target = edges[marking->cursors[block]++ - 1] >> 1;
		if (marking_is_free(marking, target) && !marking->cursors[target]) {
			marking->cursors[target] = 1;
			path[depth++] = target;
		}
	}
}

/* All that only this one leads to, or it before others. */
static void marking_claim(struct marking *marking, uint32_t leader)
{
	struct reach_graph *graph = marking->graph;
	size_t i;

	marking->head = marking->tail = 0;
	marking_take(marking, leader, LEAK_INDIRECT, REACH_NOBODY, 0);
	marking_follow(marking, LEAK_INDIRECT, false);
	for (i = 0; i < marking->tail; i++)
		graph->leaders[marking->queue[i]] = leader;
	graph->nodes[leader].verdict = LEAK_DEFINITE;
}

static void marking_lost(struct marking *marking)
{
	struct reach_graph *graph = marking->graph;
	size_t i;

	if (marking->tail == graph->count)
		return;
	marking->cursors = memory_alloc(graph->count + 1, sizeof(*marking->cursors));
	marking->finished = memory_alloc(graph->count + 1, sizeof(*marking->finished));
	/* Upward: of a cycle, the lowest one is entered first, and finished last. */
	for (i = 0; i < graph->count; i++)
		if (marking_is_free(marking, (uint32_t)i) && !marking->cursors[i])
			marking_descend(marking, (uint32_t)i);
	/* No longer needed as what they were. */
	graph->leaders = marking->cursors;
	for (i = marking->finished_count; i--;)
		if (marking_is_free(marking, marking->finished[i]))
			marking_claim(marking, marking->finished[i]);
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

uint32_t reach_graph_leader(const struct reach_graph *graph, uint32_t block)
{
	return graph->leaders[block];
}

const struct reach_rooted *reach_graph_rooted(const struct reach_graph *graph, uint32_t block)
{
	size_t i;

	for (i = graph->rooted_count; i--;)
		if (graph->rooted[i].block == block)
			return &graph->rooted[i];
	return NULL;
}

uint64_t reach_graph_need(uint64_t blocks)
{
	return blocks * (NEED_BLOCK + NEED_ROOT);
}
