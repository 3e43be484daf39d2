/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_generic.h. The table's keys are objects which have the flag for it, and each value is a number and as many values. */
#include "ruby/ruby_generic.h"

#include "ruby/ruby_table.h"

#define VARIABLES_MAX 4096u
#define CHECKED 64
#define ENTRIES_MAX (1u << 22)
#define STEP 512u

struct generic_check {
	const struct ruby_graph *graph;
	unsigned int good, bad;
	struct table *found;
};

uint64_t ruby_generic_count(const struct ruby_graph *graph, uint64_t address)
{
	uint64_t count = address & 7 ? 0 : ruby_graph_word(graph, address) & UINT32_MAX;

	return count <= VARIABLES_MAX ? count : 0;
}

static bool generic_check(void *context, uint64_t key, uint64_t value)
{
	struct generic_check *check = context;
	uint32_t number = ruby_graph_number(check->graph, key);
	struct ruby_slot slot;

	/* Those that are not in use any more are in it until they are swept. */
	if (!number)
		return true;
	ruby_graph_slot(check->graph, number, &slot);
	if (ruby_slots_has_generic(&slot) && ruby_generic_count(check->graph, value))
		check->good++;
	else
		check->bad++;
	return !check->bad;
}

static bool generic_is_table(const struct ruby_graph *graph, uint64_t address)
{
	const struct image_mapping *mapping = image_find(graph->heap->image, address);
	struct generic_check check = { .graph = graph };

	return mapping && mapping->writable && !ruby_graph_number(graph, address) &&
	       ruby_table_walk(graph->heap->image, address, CHECKED, generic_check, &check) &&
	       check.good && !check.bad;
}

static bool generic_add(void *context, uint64_t key, uint64_t value)
{
	struct generic_check *check = context;

	if (ruby_graph_number(check->graph, key) && value)
		table_put(check->found, key, (void *)(uintptr_t)value);
	return true;
}

void ruby_generic_find(const struct ruby_graph *graph, struct table *ret_generic)
{
	struct generic_check check = { .graph = graph, .found = ret_generic };
	uint64_t words[STEP], start, end;
	size_t count, i;

	ruby_heap_static_range(graph->heap, &start, &end);
	for (; start < end; start += sizeof(words)) {
		count = end - start < sizeof(words) ? (end - start) / 8 : STEP;
		count = image_read_part(graph->heap->image, start, words, count * 8) / 8;
		for (i = 0; i < count; i++) {
			if (words[i] < 4096 || words[i] & 7 || !generic_is_table(graph, words[i]))
				continue;
			ruby_table_walk(graph->heap->image, words[i], ENTRIES_MAX, generic_add,
					&check);
			return;
		}
	}
}
