/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_weak.h. The data of a map begins with its tables, whose keys and values are objects or, since 3.3, addresses of pairs. */
#include "ruby/ruby_weak.h"

#include <string.h>

#include "ruby/ruby_table.h"

#define TABLES 2
#define ENTRIES_MAX (1u << 22)

struct weak_walk {
	const struct ruby_graph *graph;
	bool (*object)(void *context, uint64_t address);
	void *context;
};

bool ruby_weak_is_map(const struct ruby_graph *graph, const struct ruby_slot *slot)
{
	char name[16] = "";
	uint64_t typed = ruby_slots_word(slot, 24);

	if (slot->type != RUBY_T_DATA || typed < 1 || typed > 3)
		return false;
	ruby_graph_read(graph, ruby_graph_word(graph, ruby_slots_word(slot, 16)), name,
			sizeof(name) - 1);
	return !strcmp(name, "weakmap") || !strcmp(name, "weakkeymap");
}

static bool weak_put(const struct weak_walk *walk, uint64_t word)
{
	uint64_t pair[2];

	if (word < 4096 || word & 7)
		return true;
	if (ruby_graph_number(walk->graph, word))
		return walk->object(walk->context, word);
	if (ruby_graph_read(walk->graph, word, pair, sizeof(pair)) != sizeof(pair))
		return true;
	return (!ruby_graph_number(walk->graph, pair[0]) || walk->object(walk->context, pair[0])) &&
	       (!ruby_graph_number(walk->graph, pair[1]) || walk->object(walk->context, pair[1]));
}

static bool weak_entry(void *context, uint64_t key, uint64_t value)
{
	return weak_put(context, key) && weak_put(context, value);
}

void ruby_weak_walk(const struct ruby_graph *graph, const struct ruby_slot *slot,
		    bool (*object)(void *context, uint64_t address), void *context)
{
	uint32_t inside = ruby_slots_data_inside(graph->heap->layout, slot);
	struct weak_walk walk = { graph, object, context };
	uint64_t words[TABLES] = { 0 };
	size_t i;

	if (inside)
		words[0] = ruby_slots_word(slot, inside);
	else
		ruby_graph_read(graph, ruby_slots_data(graph->heap->layout, slot), words,
				sizeof(words));
	for (i = 0; i < TABLES; i++)
		ruby_table_walk(graph->heap->image, words[i], ENTRIES_MAX, weak_entry, &walk);
}
