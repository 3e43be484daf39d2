/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_newer.h. */
#include "reach/reach_newer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NEWER_PIECE 4096

/* Blocks by their numbers. */
struct newer_queue {
	uint32_t *items; /* owned */
	size_t head, count, capacity;
};

struct newer {
	struct reach_graph *graph;
	const struct reach_index *index;
	struct image *image;
	struct newer_queue reached; /* that are reachable now */
	struct newer_queue inside; /* that a word leads into */
};

static void queue_add(struct newer_queue *queue, uint32_t block)
{
	queue->items =
		memory_grow(queue->items, queue->count, &queue->capacity, sizeof(*queue->items));
	queue->items[queue->count++] = block;
}

static bool newer_is_held(const struct newer *newer, uint32_t block)
{
	return newer->graph->nodes[block].verdict == LEAK_REACHABLE;
}

static void newer_take(struct newer *newer, uint32_t block, uint32_t parent)
{
	struct reach_node *node = &newer->graph->nodes[block];

	node->verdict = LEAK_REACHABLE;
	node->root = LEAK_ROOT_UNKNOWN;
	node->heuristic = LEAK_HEURISTIC_NONE;
	node->parent = parent;
	queue_add(&newer->reached, block);
}

/* Behind those that words may have before: the last one counts. */
static void newer_add_root(struct newer *newer, uint32_t block, uint64_t place)
{
	struct reach_graph *graph = newer->graph;

	graph->rooted = memory_grow_large(graph->rooted, graph->rooted_count,
					  &graph->rooted_capacity, sizeof(*graph->rooted));
	graph->rooted[graph->rooted_count++] =
		(struct reach_rooted){ .holder = place,
				       .block = block,
				       .starts = 1u << LEAK_ROOT_UNKNOWN,
				       .holder_root = LEAK_ROOT_UNKNOWN,
				       .is_sure = true };
}

static void newer_see_word(struct newer *newer, uint64_t place, uint64_t word)
{
	const struct reach_blocks *blocks = newer->index->blocks;
	uint32_t block = reach_index_find(newer->index, word);

	if (block == REACH_NO_BLOCK || newer_is_held(newer, block))
		return;
	if (word != blocks->items[block].address) {
		queue_add(&newer->inside, block);
		return;
	}
	newer_add_root(newer, block, place);
	newer_take(newer, block, REACH_NOBODY);
}

/* False: there is no time. */
static bool newer_read_range(struct newer *newer, uint64_t at, uint64_t end)
{
	uint64_t words[NEWER_PIECE / sizeof(uint64_t)];
	size_t got, i, step;

	for (; at < end; at += step) {
		if (image_is_over(newer->image))
			return false;
		step = NEWER_PIECE - at % NEWER_PIECE;
		step = step < end - at ? step : (size_t)(end - at);
		got = image_read_part(newer->image, at, words, step);
		for (i = 0; i < got / sizeof(*words); i++)
			newer_see_word(newer, at + i * sizeof(*words), words[i]);
	}
	return true;
}

static bool newer_read(struct newer *newer, const struct reach_blocks *now)
{
	const struct reach_blocks *before = newer->index->blocks;
	size_t i, at = 0;
	uint64_t old;

	for (i = 0; i < now->count; i++) {
		const struct reach_block *block = &now->items[i];

		while (at < before->count && before->items[at].address < block->address)
			at++;
		/* A block that has grown is new where it was not. */
		if (at < before->count && before->items[at].address == block->address)
			old = before->items[at].bytes < block->bytes ? before->items[at].bytes
								     : block->bytes;
		else
			old = 0;
		if (!newer_read_range(newer, block->address + (old & ~7ull),
				      block->address + block->bytes))
			return false;
	}
	return true;
}

static void newer_follow(struct newer *newer)
{
	struct newer_queue *queue = &newer->reached;
	const uint32_t *edges;
	uint32_t block, count, i;

	while (queue->head < queue->count) {
		block = queue->items[queue->head++];
		count = reach_graph_edges(newer->graph, block, &edges);
		for (i = 0; i < count; i++) {
			if (newer_is_held(newer, edges[i] >> 1))
				continue;
			if (edges[i] & 1)
				queue_add(&newer->inside, edges[i] >> 1);
			else
				newer_take(newer, edges[i] >> 1, block);
		}
	}
}

/* What is reachable or possibly lost is so still. */
static void newer_follow_inside(struct newer *newer)
{
	struct newer_queue *queue = &newer->inside;
	struct reach_node *node;
	const uint32_t *edges;
	uint32_t count, i;

	while (queue->head < queue->count) {
		const uint32_t block = queue->items[queue->head++];

		node = &newer->graph->nodes[block];
		if (node->verdict == LEAK_REACHABLE || node->verdict == LEAK_POSSIBLE ||
		    node->verdict == LEAK_UNJUDGED)
			continue;
		node->verdict = LEAK_UNJUDGED;
		count = reach_graph_edges(newer->graph, block, &edges);
		for (i = 0; i < count; i++)
			queue_add(queue, edges[i] >> 1);
	}
}

bool reach_newer_hold(struct reach_graph *graph, const struct reach_index *index,
		      const struct reach_blocks *now, struct image *image)
{
	struct newer newer = { .graph = graph, .index = index, .image = image };
	bool has_all = newer_read(&newer, now);

	newer_follow(&newer);
	newer_follow_inside(&newer);
	free(newer.reached.items);
	free(newer.inside.items);
	return has_all;
}
