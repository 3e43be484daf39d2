/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_holders.h. */
#include "python/python_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "objects/object_table.h"
#include "python/python_graph.h"
#include "python/python_path.h"
#include "python/python_search.h"

#define LEVELS_MAX 22
#define EDGES_MAX 24
#define DIGITS "0123456789"

/* An object whose holders are looked for. */
struct holders_target {
	uint32_t node;
	struct memory_class *class; /* NULL = it is one of the longest */
	struct memory_longest *longest;
	char *text; /* the way to it; NULL = none was found; owned */
};

struct holders {
	struct python_graph graph;
	struct holders_target *targets;
	size_t count, capacity;
	bool samples;
};

/* As object_table_report has named its row. */
static const char *holders_name(struct python_heap *heap, struct python_type *type,
				struct strings *names)
{
	struct buffer safe = { 0 };
	char name[OBJECT_NAME_MAX];
	const char *kept;

	snprintf(name, sizeof(name), "%s", python_type_describe(&heap->types, type));
	text_append_safe(&safe, name[0] ? name : "(no name)");
	kept = strings_keep(names, safe.data);
	buffer_free(&safe);
	return kept;
}

/* Rows that are looked at, by name: of the largest classes, of the largest ones of a program's own, and of those that grow. */
static void holders_choose_rows(const struct memory_runtime *runtime, size_t max_classes,
				struct table *rows)
{
	size_t i, own = 0;

	for (i = 0; i < runtime->class_count; i++) {
		struct memory_class *class = &runtime->classes[i];
		bool is_own = strchr(class->name, '.');

		if (i < max_classes || class->retained || (is_own && own < max_classes))
			table_put(rows, (uintptr_t) class->name, class);
		own += is_own;
	}
}

/* Nothing is added where no object is. */
static void holders_add(struct holders *holders, uint64_t address, struct memory_class *class,
			struct memory_longest *longest)
{
	uint32_t node = python_graph_add(&holders->graph, address);

	if (node == UINT32_MAX)
		return;
	holders->targets = memory_grow(holders->targets, holders->count, &holders->capacity,
				       sizeof(holders->targets[0]));
	holders->targets[holders->count++] =
		(struct holders_target){ .node = node, .class = class, .longest = longest };
}

static void holders_add_type(struct holders *holders, const struct python_type *type,
			     struct memory_class *class)
{
	size_t i;

	for (i = 0; i < PYTHON_SAMPLES && i < (type->retained ? type->retained : type->live); i++)
		holders_add(holders, type->samples[i], class, NULL);
}

/* Are two ways the same but for numbers, such as the place in a list? */
static bool holders_are_alike(const char *left, const char *right)
{
	for (;; left++, right++) {
		left += strspn(left, DIGITS);
		right += strspn(right, DIGITS);
		if (*left != *right)
			return false;
		if (!*left)
			return true;
	}
}

static bool holders_has(const struct memory_class *class, const char *text)
{
	size_t i;

	for (i = 0; i < class->holder_count; i++)
		if (holders_are_alike(class->holders[i], text))
			return true;
	return false;
}

static void holders_fill(struct holders *holders, struct holders_target *target)
{
	struct memory_class *class = target->class;
	struct python_edge edges[EDGES_MAX];
	struct buffer text = { 0 };
	size_t count = python_graph_path(&holders->graph, target->node, edges, EDGES_MAX);

	if (count)
		python_path_append(&holders->graph, edges, count, holders->samples, &text);
	if (!class && text.length)
		target->longest->holder = memory_copy_string(text.data);
	else if (text.length && class->holder_count < PYTHON_SAMPLES &&
		 !holders_has(class, text.data)) {
		class->holders =
			memory_resize(class->holders, class->holder_count + 1, sizeof(char *));
		class->holders[class->holder_count++] = memory_copy_string(text.data);
	}
	target->text = text.data;
}

/* Of the samples of the target's class, how many are held in a way like its own. */
static uint64_t holders_count_alike(const struct holders *holders,
				    const struct holders_target *target)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < holders->count; i++) {
		const struct holders_target *other = &holders->targets[i];

		count += other->class == target->class && other->text &&
			 holders_are_alike(other->text, target->text);
	}
	return count;
}

/* Let the class's way that is like `text` be its first. Returns false if it has none. */
static bool holders_put_first(struct memory_class *class, const char *text)
{
	char *found;
	size_t i;

	for (i = 0; i < class->holder_count; i++) {
		if (!holders_are_alike(class->holders[i], text))
			continue;
		found = class->holders[i];
		class->holders[i] = class->holders[0];
		class->holders[0] = found;
		return true;
	}
	return false;
}

/* The way that most samples of a class are held in comes first, with their share of all. */
static void holders_rank(const struct holders *holders, const struct holders_target *target)
{
	struct memory_class *class = target->class;
	uint64_t all, percent;

	if (!class || !target->text)
		return;
	all = class->retained ? class->retained : class->live;
	all = all < 1 ? 1 : all < PYTHON_SAMPLES ? all : PYTHON_SAMPLES;
	percent = (holders_count_alike(holders, target) * 100 + all - 1) / all;
	percent = percent < 100 ? percent : 100;
	if (percent > class->holder_percent && holders_put_first(class, target->text))
		class->holder_percent = (unsigned int)percent;
}

static void holders_finish(struct holders *holders)
{
	size_t i;

	for (i = 0; i < holders->count; i++)
		holders_fill(holders, &holders->targets[i]);
	for (i = 0; i < holders->count; i++)
		holders_rank(holders, &holders->targets[i]);
	for (i = 0; i < holders->count; i++)
		free(holders->targets[i].text);
	free(holders->targets);
}

void python_holders_find(struct python_heap *heap, size_t max_classes, uint64_t until_ns,
			 bool samples, struct strings *names, struct memory_runtime *runtime)
{
	struct holders holders = { .graph = { .heap = heap }, .samples = samples };
	const struct table_slot *slot;
	struct table rows = { 0 };
	size_t cursor = 0, i;

	holders_choose_rows(runtime, max_classes, &rows);
	holders.graph.owners = python_owners_new(heap);
	while ((slot = table_next(&heap->types.by_address, &cursor))) {
		struct python_type *type = slot->value;
		struct memory_class *class;

		if (!type->live || type->flags & PYTHON_FLAG_TYPE)
			continue;
		class = table_get(&rows, (uintptr_t)holders_name(heap, type, names));
		if (class)
			holders_add_type(&holders, type, class);
	}
	for (i = 0; i < runtime->longest_count; i++)
		holders_add(&holders, runtime->longest[i].address, NULL, &runtime->longest[i]);
	python_search(&holders.graph, LEVELS_MAX, until_ns);
	holders_finish(&holders);
	table_free(&rows);
	python_owners_free(holders.graph.owners);
	python_graph_free(&holders.graph);
}
