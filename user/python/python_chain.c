/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_chain.h. */
#include "python/python_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "image/window.h"
#include "python/python_objects.h"

/* Words from an object to the next one: its dict, the dict's keys, a value in there. */
#define STEPS_MAX 6
/* Objects of a type that are looked at; 16 bytes and more each. */
#define OBJECTS_MAX (2u << 20)
#define WINDOW_BYTES 4096u
/* Objects of a chain that are passed between two looks at the time. */
#define STEPS_CHECKED 4096u

/* Where each word is, from what the one before leads to. */
struct chain_way {
	struct python_type *type;
	uint64_t deltas[STEPS_MAX];
	size_t count;
};

struct python_chain {
	struct chain_way way;
	struct table held; /* object -> that which holds it, in this way */
	size_t objects;
	bool is_whole;
};

static bool chain_is_over(struct image *image, uint64_t until_ns)
{
	return image_is_over(image) || deadline_has_passed(until_ns);
}

/* Walks all objects of a type. */
struct chain_walk {
	struct python_chain *chain;
	struct python_heap *heap;
	struct window windows[STEPS_MAX];
	uint64_t until_ns;
};

/*
 * The way from a node down to the next one of its type. Returns the node that it leads to; UINT32_MAX = there is none. All words but the last
 * one lead to a node in between.
 */
static uint32_t chain_read_way(const struct python_graph *graph, uint32_t node,
			       struct chain_way *way)
{
	const struct python_node *from = &graph->nodes[node], *to;
	uint64_t base = from->owner.address;
	uint32_t i;

	*way = (struct chain_way){ .type = from->owner.type };
	while (way->count < STEPS_MAX && from->below) {
		uint32_t below = from->below - 1;

		to = &graph->nodes[below];
		for (i = 0; i < to->holder_count && &graph->nodes[to->holders[i].holder] != from;)
			i++;
		if (i == to->holder_count || to->holders[i].times)
			return UINT32_MAX;
		way->deltas[way->count++] = to->holders[i].at - base;
		base = to->holders[i].value;
		if (to->owner.kind == PYTHON_OWNER_OBJECT && to->owner.type == way->type)
			return base == to->owner.address ? below : UINT32_MAX;
		/* A dict of attributes: the chain is that of the objects that have them. */
		if (way->type->content == PYTHON_CONTENT_DICT &&
		    to->owner.kind == PYTHON_OWNER_OBJECT && to->owner.type->dict_offset)
			return UINT32_MAX;
		from = to;
	}
	return UINT32_MAX;
}

static bool chain_is_same(const struct chain_way *a, const struct chain_way *b)
{
	return a->type == b->type && a->count == b->count &&
	       !memcmp(a->deltas, b->deltas, a->count * sizeof(a->deltas[0]));
}

/* Does the way lead from a node to one of its type twice in a row? */
static bool chain_begins(const struct python_graph *graph, uint32_t node, struct chain_way *way)
{
	struct chain_way again;
	uint32_t next = chain_read_way(graph, node, way);

	return next != UINT32_MAX && chain_read_way(graph, next, &again) != UINT32_MAX &&
	       chain_is_same(way, &again);
}

/* Where the words lead from an object; 0 = nowhere. */
static uint64_t chain_follow(struct chain_walk *walk, uint64_t object)
{
	const struct chain_way *way = &walk->chain->way;
	const unsigned char *word;
	uint64_t at = object;
	size_t i;

	for (i = 0; i < way->count; i++) {
		word = window_get(&walk->windows[i], at + way->deltas[i], sizeof(at));
		if (!word)
			return 0;
		memcpy(&at, word, sizeof(at));
	}
	return at;
}

static void chain_add(struct chain_walk *walk, uint64_t block, const unsigned char *bytes,
		      size_t length, uint64_t size)
{
	struct python_type *type = python_objects_type(walk->heap, bytes, length, size);
	uint64_t object, held;

	if (type != walk->chain->way.type)
		return;
	object = block + type->head;
	held = chain_follow(walk, object);
	if (held && held != object)
		table_put(&walk->chain->held, held, (void *)(uintptr_t)object);
	if (++walk->chain->objects > OBJECTS_MAX ||
	    (!(walk->chain->objects % 256) && chain_is_over(walk->heap->image, walk->until_ns)))
		walk->chain->is_whole = false;
}

static void chain_add_pool(struct chain_walk *walk, uint64_t address)
{
	unsigned char bytes[PYTHON_POOL_MAX], free[PYTHON_BLOCKS_MAX];
	uint32_t i, at = PYTHON_POOL_HEADER;
	struct python_pool pool;

	if (python_heap_read_pool(walk->heap, address, bytes, &pool, free) != PYTHON_POOL_GOOD)
		return;
	for (i = 0; i < pool.reached; i++, at += pool.block_size)
		if (!free[i])
			chain_add(walk, address + at, bytes + at, pool.block_size, pool.block_size);
}

static void chain_add_block(struct chain_walk *walk, const struct python_block *block)
{
	unsigned char bytes[PYTHON_OBJECTS_BEGIN];
	size_t length = block->size < sizeof(bytes) ? block->size : sizeof(bytes);

	length = image_read_part(walk->heap->image, block->address, bytes, length);
	chain_add(walk, block->address, bytes, length, block->size);
}

static struct python_chain *chain_new(struct python_heap *heap, const struct chain_way *way,
				      uint64_t until_ns)
{
	struct python_chain *chain = memory_alloc(1, sizeof(*chain));
	struct chain_walk walk = { .chain = chain, .heap = heap, .until_ns = until_ns };
	size_t i;

	chain->way = *way;
	chain->is_whole = true;
	for (i = 0; i < way->count; i++)
		window_open(&walk.windows[i], heap->image, WINDOW_BYTES);
	for (i = 0; i < heap->pool_count && chain->is_whole; i++)
		if (heap->pools[i].block_size >= way->type->least_size)
			chain_add_pool(&walk, heap->pools[i].address);
	for (i = 0; i < heap->large.count && chain->is_whole; i++)
		if (heap->large.items[i].size >= way->type->least_size)
			chain_add_block(&walk, &heap->large.items[i]);
	for (i = 0; i < way->count; i++)
		window_close(&walk.windows[i]);
	if (!chain->is_whole)
		table_free(&chain->held);
	return chain;
}

static struct python_chain *chain_get(struct python_chains *chains, struct python_heap *heap,
				      const struct chain_way *way, uint64_t until_ns)
{
	size_t i;

	for (i = 0; i < chains->count; i++)
		if (chain_is_same(&chains->items[i]->way, way))
			return chains->items[i];
	if (chains->count == PYTHON_CHAINS)
		return NULL;
	return chains->items[chains->count++] = chain_new(heap, way, until_ns);
}

/*
 * The first object of the chain that an object is in; `ret_times` is how far away it is. 0 = it has none, as a ring, or it was not
 * reached in time.
 */
static uint64_t chain_first(const struct python_chain *chain, uint64_t object, struct image *image,
			    uint64_t until_ns, uint32_t *ret_times)
{
	uint32_t times = 0;
	uint64_t holder;

	while ((holder = (uintptr_t)table_get(&chain->held, object))) {
		if (times++ >= chain->held.count ||
		    (!(times % STEPS_CHECKED) && chain_is_over(image, until_ns)))
			return 0;
		object = holder;
	}
	*ret_times = times;
	return times ? object : 0;
}

static void chain_jump(struct python_chains *chains, struct python_graph *graph, uint32_t node,
		       uint64_t until_ns)
{
	struct python_edge edge = { 0 };
	struct python_chain *chain;
	struct chain_way way;
	uint64_t first = 0;

	if (!chain_begins(graph, node, &way))
		return;
	chain = chain_get(chains, graph->heap, &way, until_ns);
	if (chain && chain->is_whole)
		first = chain_first(chain, graph->nodes[node].owner.address, graph->heap->image,
				    until_ns, &edge.times);
	if (!first)
		return;
	edge.holder = python_graph_add(graph, first);
	if (edge.holder != UINT32_MAX && edge.holder != node)
		python_graph_hold(graph, node, &edge);
}

void python_chains_jump(struct python_chains *chains, struct python_graph *graph, size_t first,
			uint64_t until_ns)
{
	size_t count = graph->count, i;

	for (i = first; i < count && !chain_is_over(graph->heap->image, until_ns); i++)
		if (graph->nodes[i].owner.kind == PYTHON_OWNER_OBJECT &&
		    !graph->nodes[i].holder_count)
			chain_jump(chains, graph, (uint32_t)i, until_ns);
}

void python_chains_free(struct python_chains *chains)
{
	size_t i;

	for (i = 0; i < chains->count; i++) {
		table_free(&chains->items[i]->held);
		free(chains->items[i]);
	}
	chains->count = 0;
}
