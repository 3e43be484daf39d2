/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_graph.h. */
#include "python/python_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "image/image_keep.h"

#define NODES_MAX 200000u
#define SCAN_STEP (256u << 10)

/* A raw block may be held by an address inside of it: where its values begin, behind a head. */
#define RAW_STARTS 8

/* Bloom filter of the addresses whose references are searched. */
#define FILTER_BITS (1u << 19)

struct graph_scan {
	struct python_graph *graph;
	struct table wanted; /* word -> node + 1 */
	uint8_t filter[FILTER_BITS / 8];
	uint64_t low, span; /* all wanted words are in [low, low + span] */
	uint64_t until_ns;
};

static uint32_t graph_hash(uint64_t word)
{
	return (uint32_t)(word * 0x9e3779b97f4a7c15ull >> 45);
}

static bool graph_is_end(enum python_owner_kind kind)
{
	return kind >= PYTHON_OWNER_CLASS;
}

static uint32_t graph_node(struct python_graph *graph, const struct python_owner *owner)
{
	size_t found = (uintptr_t)table_get(&graph->by_address, owner->address);

	if (found)
		return (uint32_t)found - 1;
	if (graph->count >= NODES_MAX)
		return UINT32_MAX;
	graph->nodes =
		memory_grow(graph->nodes, graph->count, &graph->capacity, sizeof(graph->nodes[0]));
	graph->nodes[graph->count++] = (struct python_node){ .owner = *owner };
	table_put(&graph->by_address, owner->address, (void *)(uintptr_t)graph->count);
	return (uint32_t)graph->count - 1;
}

uint32_t python_graph_add(struct python_graph *graph, uint64_t address)
{
	struct python_owner owner = python_owners_of_object(graph->owners, address);

	return owner.kind == PYTHON_OWNER_NONE ? UINT32_MAX : graph_node(graph, &owner);
}

/* Ends that keep what they lead to come first, those that may do so by chance, or for a moment, last. */
static int graph_rank(const struct python_graph *graph, const struct python_edge *edge)
{
	enum python_owner_kind kind = graph->nodes[edge->holder].owner.kind;

	return kind == PYTHON_OWNER_CLASS || kind == PYTHON_OWNER_MODULE ? 0
	       : graph_is_end(kind)					 ? 2
									 : 1;
}

void python_graph_hold(struct python_graph *graph, uint32_t node, const struct python_edge *edge)
{
	struct python_node *held = &graph->nodes[node];
	uint32_t i;

	for (i = 0; i < held->holder_count; i++)
		if (held->holders[i].holder == edge->holder)
			return;
	if (!graph->nodes[edge->holder].below)
		graph->nodes[edge->holder].below = node + 1;
	if (held->holder_count < PYTHON_NODE_HOLDERS) {
		held->holders[held->holder_count++] = *edge;
		return;
	}
	for (i = 0; i < held->holder_count; i++) {
		if (graph_rank(graph, &held->holders[i]) <= graph_rank(graph, edge))
			continue;
		held->holders[i] = *edge;
		return;
	}
}

/* Is it a word of a weak reference to an object, or to others that are like it? */
static bool graph_is_weak(const struct python_owner *owner, uint64_t at)
{
	const char *name = owner->type->name;
	uint64_t offset = at - owner->address;

	if (offset != PYTHON_WEAKREF_OBJECT && offset != PYTHON_WEAKREF_BEFORE &&
	    offset != PYTHON_WEAKREF_BEHIND)
		return false;
	return strstr(name, "weakref") || strstr(name, "weakproxy") || !strcmp(name, "KeyedRef") ||
	       !strcmp(name, "weakcallableproxy") || !strcmp(name, "WeakMethod");
}

/* Words that keep nothing: contents, those of and for weak references, and what the interpreter remembers within code. */
static bool graph_is_idle(const struct python_owner *owner, uint64_t at)
{
	const char *name;

	if (owner->kind != PYTHON_OWNER_OBJECT)
		return false;
	/* It may be in front of the object. */
	if (owner->type->weak_offset && at == owner->address + (uint64_t)owner->type->weak_offset)
		return true;
	if (at < owner->address)
		return false;
	/* Numbers and characters, which may be like an address. */
	if (!(owner->type->flags & PYTHON_FLAG_GC) &&
	    owner->type->flags & (PYTHON_FLAG_LONG | PYTHON_FLAG_STR | PYTHON_FLAG_BYTES))
		return true;
	name = owner->type->name;
	if (graph_is_weak(owner, at))
		return true;
	return !strcmp(name, "code") && at - owner->address >= owner->type->basic_size;
}

/* Buffers of code are caches, where old addresses stay. */
static bool graph_is_cache(const struct python_owner *owner, const struct python_node *held)
{
	return (held->owner.kind == PYTHON_OWNER_RAW || held->owner.kind == PYTHON_OWNER_BLOCK) &&
	       owner->kind == PYTHON_OWNER_OBJECT && !strcmp(owner->type->name, "code");
}

static void graph_hit(struct python_graph *graph, uint32_t node, uint64_t at, uint64_t value)
{
	struct python_owner owner = python_owners_find(graph->owners, at), container;
	struct python_edge edge = { .at = at, .value = value };

	if (owner.kind == PYTHON_OWNER_NONE || graph_is_idle(&owner, at) ||
	    graph_is_cache(&owner, &graph->nodes[node]))
		return;
	edge.holder = graph_node(graph, &owner);
	if (edge.holder == UINT32_MAX || edge.holder == node)
		return;
	python_graph_hold(graph, node, &edge);
	if (owner.kind != PYTHON_OWNER_TABLE || graph->nodes[edge.holder].holder_count)
		return;
	/* Whose table it is is known, and need not be looked for. */
	container = python_owners_of_object(graph->owners, owner.container);
	if (container.kind == PYTHON_OWNER_NONE)
		return;
	node = edge.holder;
	edge = (struct python_edge){ .holder = graph_node(graph, &container),
				     .at = owner.field,
				     .value = owner.address };
	if (edge.holder != UINT32_MAX && edge.holder != node)
		python_graph_hold(graph, node, &edge);
}

static void graph_scan_words(struct graph_scan *scan, const uint64_t *words, size_t count,
			     uint64_t at)
{
	size_t i, found;
	uint32_t hash;

	for (i = 0; i < count; i++) {
		if (words[i] - scan->low > scan->span)
			continue;
		hash = graph_hash(words[i]);
		if (!(scan->filter[hash / 8] >> hash % 8 & 1))
			continue;
		found = (uintptr_t)table_get(&scan->wanted, words[i]);
		if (found)
			graph_hit(scan->graph, (uint32_t)found - 1, at + i * 8, words[i]);
	}
}

static void graph_scan_mapping(struct graph_scan *scan, const struct image_mapping *mapping,
			       uint64_t *words)
{
	uint64_t at = mapping->start, start, end, size;
	struct image *image = scan->graph->heap->image;
	const unsigned char *kept;
	size_t got;

	while (image_next_present(image, at, mapping->end, &start, &end)) {
		at = start;
		if (scan->until_ns && clock_now_ns() > scan->until_ns)
			return;
		size = end - start < SCAN_STEP ? end - start : SCAN_STEP;
		kept = image_keep_view(image, start, size, &got);
		size = (kept ? got : image_read_part(image, start, words, size)) & ~7ull;
		graph_scan_words(scan, kept ? (const uint64_t *)kept : words, size / 8, start);
		scan->graph->scanned_bytes += size;
		at += size ? size : image->page_size;
	}
}

static void graph_want(struct graph_scan *scan, uint64_t word, uint32_t node)
{
	uint32_t hash = graph_hash(word);

	if (!scan->wanted.count || word < scan->low) {
		scan->span += scan->wanted.count ? scan->low - word : 0;
		scan->low = word;
	}
	if (word - scan->low > scan->span)
		scan->span = word - scan->low;
	scan->filter[hash / 8] |= (uint8_t)(1u << hash % 8);
	table_put(&scan->wanted, word, (void *)(uintptr_t)(node + 1));
}

static void graph_want_node(struct graph_scan *scan, uint32_t node)
{
	const struct python_owner *owner = &scan->graph->nodes[node].owner;
	uint32_t tag = scan->graph->heap->offsets->values_tag, i;

	if (owner->kind == PYTHON_OWNER_OBJECT) {
		graph_want(scan, owner->address, node);
		return;
	}
	for (i = 0; i < RAW_STARTS && i * 8 < owner->size; i++) {
		graph_want(scan, owner->address + i * 8, node);
		if (tag)
			graph_want(scan, owner->address + i * 8 - tag, node);
	}
}

/* Is it to be found out what holds a node? Not of structs within structs: what they lead to is anybody's. */
static bool graph_is_open(const struct python_graph *graph, const struct python_node *node)
{
	if (graph_is_end(node->owner.kind) || node->holder_count)
		return false;
	return node->owner.kind != PYTHON_OWNER_BLOCK || !node->below ||
	       graph->nodes[node->below - 1].owner.kind != PYTHON_OWNER_BLOCK;
}

bool python_graph_pass(struct python_graph *graph, size_t first, uint64_t until_ns)
{
	struct graph_scan *scan = memory_alloc(1, sizeof(*scan));
	uint64_t *words = memory_alloc(1, SCAN_STEP);
	bool is_wanted = false;
	size_t i;

	scan->graph = graph;
	scan->until_ns = until_ns;
	for (i = first; i < graph->count; i++) {
		if (!graph_is_open(graph, &graph->nodes[i]))
			continue;
		graph_want_node(scan, (uint32_t)i);
		is_wanted = true;
	}
	for (i = 0; is_wanted && i < graph->heap->image->mapping_count; i++) {
		const struct image_mapping *mapping = &graph->heap->image->mappings[i];

		if (mapping->writable && mapping->readable && !mapping->shared)
			graph_scan_mapping(scan, mapping, words);
	}
	graph->levels++;
	table_free(&scan->wanted);
	free(scan);
	free(words);
	return is_wanted;
}

/* Nodes by what holds them: those that node `i` holds are held[first[i]] to held[first[i + 1] - 1]. */
struct graph_held {
	uint32_t *first, *held, *queue;
	size_t tail;
};

static void graph_list_held(const struct python_graph *graph, struct graph_held *lists)
{
	uint32_t *first = memory_alloc(graph->count + 2, sizeof(*first)), holder, n;
	size_t i, edges = 0;

	for (i = 0; i < graph->count; edges += graph->nodes[i++].holder_count)
		for (n = 0; n < graph->nodes[i].holder_count; n++)
			first[graph->nodes[i].holders[n].holder + 2]++;
	for (i = 2; i < graph->count + 2; i++)
		first[i] += first[i - 1];
	lists->held = memory_alloc(edges + 1, sizeof(*lists->held));
	lists->queue = memory_alloc(graph->count + 1, sizeof(*lists->queue));
	for (i = 0; i < graph->count; i++)
		for (n = 0; n < graph->nodes[i].holder_count; n++) {
			holder = graph->nodes[i].holders[n].holder;
			lists->held[first[holder + 1]++] = (uint32_t)i;
		}
	lists->first = first;
}

static void graph_lead_to(struct python_graph *graph, struct graph_held *lists, uint32_t end)
{
	struct python_node *node = &graph->nodes[end], *next;
	uint32_t i, way;

	for (i = lists->first[end]; i < lists->first[end + 1]; i++) {
		next = &graph->nodes[lists->held[i]];
		if (next->end || graph_is_end(next->owner.kind))
			continue;
		for (way = 0; next->holders[way].holder != end; way++)
			;
		next->way = (uint8_t)way;
		next->steps = node->steps + 1;
		next->end = node->steps			     ? node->end
			    : graph_is_end(node->owner.kind) ? node->owner.kind
							     : PYTHON_OWNER_MEMORY;
		lists->queue[lists->tail++] = lists->held[i];
	}
}

/* Is it one of the ends of kind `best`? */
static bool graph_begins(const struct python_node *node, enum python_owner_kind best)
{
	enum python_owner_kind kind = node->owner.kind;

	if (kind == PYTHON_OWNER_BLOCK)
		return best == PYTHON_OWNER_MEMORY && !node->holder_count;
	return kind == best || (kind == PYTHON_OWNER_CLASS && best == PYTHON_OWNER_MODULE);
}

void python_graph_find_ways(struct python_graph *graph)
{
	struct graph_held lists = { 0 };
	enum python_owner_kind best;
	size_t i, head;

	graph_list_held(graph, &lists);
	for (i = 0; i < graph->count; i++)
		graph->nodes[i].steps = graph->nodes[i].end = 0;
	for (best = PYTHON_OWNER_MODULE; best <= PYTHON_OWNER_MEMORY; best++) {
		lists.tail = 0;
		for (i = 0; i < graph->count; i++)
			if (graph_begins(&graph->nodes[i], best))
				lists.queue[lists.tail++] = (uint32_t)i;
		for (head = 0; head < lists.tail; head++)
			graph_lead_to(graph, &lists, lists.queue[head]);
	}
	free(lists.first);
	free(lists.held);
	free(lists.queue);
}

size_t python_graph_path(const struct python_graph *graph, uint32_t node,
			 struct python_edge *ret_edges, size_t max)
{
	size_t count = graph->nodes[node].steps, i;

	if (count > max)
		return 0;
	for (i = 0; i < count; i++) {
		const struct python_node *at = &graph->nodes[node];

		ret_edges[i] = at->holders[at->way];
		node = ret_edges[i].holder;
	}
	return count;
}

void python_graph_free(struct python_graph *graph)
{
	free(graph->nodes);
	table_free(&graph->by_address);
}
