/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_holders.h. */
#include "ruby/ruby_holders.h"

#include <stdlib.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "ruby/ruby_edges.h"
#include "ruby/ruby_generic.h"
#include "ruby/ruby_table.h"

#define GLOBALS_MAX 65536
#define MACHINE_SIZE 12288u /* bytes of the virtual machine's struct that are looked at */
#define MACHINE_DEPTH 2 /* blocks that lead to each other */
#define LITERALS_CHECKED 256
#define LITERALS_MIN 64
#define LITERALS_MAX (1u << 22)

struct holders_literals {
	struct ruby_holders *holders;
	unsigned int seen, good;
};

/* What a weak map has is reached from there only if nothing else holds it. */
static void holders_note_weak(struct ruby_holders *holders, uint32_t map)
{
	if (holders->weak_count && holders->weak[holders->weak_count - 1] == map)
		return;
	holders->weak = memory_grow(holders->weak, holders->weak_count, &holders->weak_capacity,
				    sizeof(holders->weak[0]));
	holders->weak[holders->weak_count++] = map;
}

static bool holders_reach(void *context, const struct ruby_edge *edge)
{
	struct ruby_holders *holders = context;

	if (edge->kind == RUBY_EDGE_WEAK) {
		holders_note_weak(holders, holders->queue[holders->looked]);
	} else if (!holders->parents[edge->target]) {
		holders->parents[edge->target] = holders->queue[holders->looked];
		holders->queue[holders->reached++] = edge->target;
	}
	return true;
}

/* What its stack had may still be there: it holds only what nothing else does. */
static bool holders_postpone(const struct ruby_holders *holders, uint32_t number)
{
	struct ruby_slot slot;

	if (holders->with_threads)
		return false;
	ruby_graph_slot(holders->graph, number, &slot);
	return ruby_edges_is_thread(holders->graph, &slot);
}

static void holders_follow(struct ruby_holders *holders)
{
	uint64_t until_ns = holders->graph->heap->image->until_ns;

	for (; holders->looked < holders->reached; holders->looked++) {
		if (!(holders->looked % 64) && deadline_has_passed(until_ns))
			return;
		if (!holders_postpone(holders, holders->queue[holders->looked]))
			ruby_edges_walk(holders->graph, holders->queue[holders->looked],
					holders_reach, holders);
	}
}

struct holders_map {
	struct ruby_holders *holders;
	uint32_t number;
};

static bool holders_reach_weak(void *context, const struct ruby_edge *edge)
{
	const struct holders_map *map = context;
	struct ruby_holders *holders = map->holders;

	if (edge->kind == RUBY_EDGE_WEAK && !holders->parents[edge->target]) {
		holders->parents[edge->target] = map->number;
		holders->queue[holders->reached++] = edge->target;
	}
	return true;
}

/* Those that are reached on the way are followed, too, behind all that is held otherwise. */
static void holders_follow_weak(struct ruby_holders *holders)
{
	while (holders->weak_done < holders->weak_count) {
		struct holders_map map = { holders, holders->weak[holders->weak_done++] };

		ruby_edges_walk(holders->graph, map.number, holders_reach_weak, &map);
		if (holders->weak_done == holders->weak_count)
			holders_follow(holders);
	}
}

static void holders_add_root(struct ruby_holders *holders, uint32_t number,
			     enum ruby_root_kind kind, uint64_t key)
{
	if (!number || holders->parents[number])
		return;
	holders->parents[number] = number;
	holders->queue[holders->reached++] = number;
	holders->items = memory_grow(holders->items, holders->count, &holders->capacity,
				     sizeof(holders->items[0]));
	holders->items[holders->count++] = (struct ruby_root){ kind, key };
	table_put(&holders->roots, number, (void *)(uintptr_t)holders->count);
}

/* Its struct has the value behind two numbers. */
static bool holders_add_global(void *context, uint64_t serial, uint64_t entry)
{
	struct ruby_holders *holders = context;
	struct image *image = holders->graph->heap->image;
	uint64_t variable = entry & 7 ? 0 : image_word(image, entry);

	if (variable && !(variable & 7))
		holders_add_root(holders,
				 ruby_graph_number(holders->graph, image_word(image, variable + 8)),
				 RUBY_ROOT_GLOBAL, serial);
	return true;
}

static bool holders_reach_postponed(void *context, const struct ruby_edge *edge)
{
	const struct holders_map *map = context;
	struct ruby_holders *holders = map->holders;

	if (edge->kind != RUBY_EDGE_WEAK && !holders->parents[edge->target]) {
		holders->parents[edge->target] = map->number;
		holders->queue[holders->reached++] = edge->target;
	}
	return true;
}

/* Those that were reached, and are not followed yet, and others. */
static void holders_add_threads(struct ruby_holders *holders)
{
	const struct ruby_graph *graph = holders->graph;
	struct ruby_slot slot;
	uint32_t number;

	holders->with_threads = true;
	for (number = 1; number <= graph->count; number++) {
		struct holders_map map = { holders, number };

		if (graph->states[number] != RUBY_LIVE && graph->states[number] != RUBY_NEWBORN)
			continue;
		ruby_graph_slot(graph, number, &slot);
		if (!ruby_edges_is_thread(graph, &slot))
			continue;
		if (holders->parents[number])
			ruby_edges_walk(graph, number, holders_reach_postponed, &map);
		else
			holders_add_root(holders, number, RUBY_ROOT_THREAD, 0);
	}
}

static bool holders_count_literal(void *context, uint64_t key, uint64_t value)
{
	struct holders_literals *literals = context;
	uint32_t number = ruby_graph_number(literals->holders->graph, key);
	struct ruby_slot slot = { 0 };

	if (number)
		ruby_graph_slot(literals->holders->graph, number, &slot);
	literals->seen++;
	/* Names that are not in use any more are in it until they are swept. */
	literals->good += slot.type == RUBY_T_STRING && key == value;
	return true;
}

static bool holders_add_literal(void *context, uint64_t key, uint64_t value)
{
	struct holders_literals *literals = context;

	(void)value;
	holders_add_root(literals->holders, ruby_graph_number(literals->holders->graph, key),
			 RUBY_ROOT_LITERALS, 0);
	return true;
}

/* A hash table of the virtual machine in which most keys are strings, and their own values. */
static void holders_add_literals(struct ruby_holders *holders, const uint64_t *words, size_t count)
{
	struct image *image = holders->graph->heap->image;
	size_t i;

	for (i = 0; i < count; i++) {
		struct holders_literals literals = { .holders = holders };

		if (words[i] & 7 || words[i] < 4096 || ruby_graph_number(holders->graph, words[i]))
			continue;
		ruby_table_walk(image, words[i], LITERALS_CHECKED, holders_count_literal,
				&literals);
		if (literals.seen < LITERALS_MIN || literals.good * 2 < literals.seen)
			continue;
		ruby_table_walk(image, words[i], LITERALS_MAX, holders_add_literal, &literals);
		return;
	}
}

static bool holders_add_part(void *context, const struct ruby_edge *edge)
{
	holders_add_root(context, edge->target, RUBY_ROOT_MACHINE, edge->key);
	return true;
}

/* What words of the virtual machine lead to: the features that are loaded, handlers of signals. Then, by a guess, what its blocks do. */
static void holders_add_machine(struct ruby_holders *holders, const uint64_t *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		holders_add_root(holders, ruby_graph_number(holders->graph, words[i]),
				 RUBY_ROOT_MACHINE, i * 8);
	holders_follow(holders);
	if (count)
		ruby_edges_walk_block(holders->graph, holders->graph->heap->vm, MACHINE_DEPTH,
				      holders_add_part, holders);
}

static void holders_scan(struct ruby_holders *holders, uint64_t start, uint64_t end,
			 uint64_t *budget)
{
	const struct ruby_graph *graph = holders->graph;
	uint64_t size = graph->heap->layout->page_size, words[RUBY_PAGE_MAX / 8], next;
	size_t got, i;

	for (; start < end && *budget >= size; start = next) {
		next = (start & ~(size - 1)) + size;
		next = next < end ? next : end;
		/* What is in Ruby's own pages was followed. */
		if (table_get(&graph->by_body, start & ~(size - 1)))
			continue;
		got = image_read_part(graph->heap->image, start, words, next - start);
		*budget -= size;
		for (i = 0; i < got / 8; i++)
			if (words[i] >= 4096 && !(words[i] & 7))
				holders_add_root(holders, ruby_graph_number(graph, words[i]),
						 RUBY_ROOT_WORD, start + i * 8);
	}
}

/* Memory that is present, and may hold references that are not known otherwise. */
static void holders_scan_memory(struct ruby_holders *holders, uint64_t max_bytes)
{
	struct image *image = holders->graph->heap->image;
	uint64_t at, start, end;
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->writable || mapping->shared)
			continue;
		for (at = mapping->start; max_bytes && !deadline_has_passed(image->until_ns) &&
					  image_next_present(image, at, mapping->end, &start, &end);
		     at = end)
			holders_scan(holders, start, end, &max_bytes);
	}
}

void ruby_holders_find(struct ruby_graph *graph, uint64_t max_bytes,
		       struct ruby_holders *ret_holders)
{
	struct ruby_holders *holders = ret_holders;
	uint64_t words[MACHINE_SIZE / 8];
	size_t count = !graph->heap->vm || graph->heap->vm & 7
			       ? 0
			       : image_read_part(graph->heap->image, graph->heap->vm, words,
						 sizeof(words)) /
					 8;

	*holders = (struct ruby_holders){ .graph = graph };
	holders->parents = memory_alloc(graph->count + 1ull, sizeof(holders->parents[0]));
	holders->queue = memory_alloc(graph->count + 1ull, sizeof(holders->queue[0]));
	ruby_id_find(graph, &holders->ids);
	if (graph->has_generic)
		ruby_generic_find(graph, &graph->generic);
	holders_add_root(holders, ruby_graph_number(graph, graph->heap->object_class),
			 RUBY_ROOT_CONSTANTS, 0);
	/* Side by side: far behind constants there is much that only words of native memory seem to lead to. */
	if (holders->ids.globals)
		ruby_id_walk(graph->heap->image, holders->ids.globals, GLOBALS_MAX,
			     holders_add_global, holders);
	holders_follow(holders);
	holders_add_root(holders, ruby_graph_number(graph, holders->ids.strings), RUBY_ROOT_SYMBOLS,
			 0);
	holders_add_literals(holders, words, count);
	holders_follow(holders);
	holders_add_threads(holders);
	holders_follow(holders);
	holders_add_machine(holders, words, count);
	holders_follow(holders);
	holders_follow_weak(holders);
	holders_scan_memory(holders, max_bytes);
	holders_follow(holders);
	holders_follow_weak(holders);
}

void ruby_holders_free(struct ruby_holders *holders)
{
	free(holders->parents);
	free(holders->queue);
	free(holders->items);
	free(holders->weak);
	table_free(&holders->roots);
	*holders = (struct ruby_holders){ 0 };
}
