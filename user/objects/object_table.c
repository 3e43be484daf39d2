/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See object_table.h. */
#include "objects/object_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/text.h"

static size_t object_table_find(struct object_table *table, uint64_t id)
{
	size_t place = (uintptr_t)table_get(&table->by_id, id);

	if (place)
		return place;
	if (id && table->max_classes && table->count >= table->max_classes)
		return object_table_find(table, 0);
	table->items =
		memory_grow(table->items, table->count, &table->capacity, sizeof(table->items[0]));
	table->items[table->count++] = (struct object_class){ .id = id };
	table_put(&table->by_id, id, (void *)(uintptr_t)table->count);
	return table->count;
}

struct object_class *object_table_get(struct object_table *table, uint64_t id)
{
	/* Addresses of classes are multiples of a slot's size. */
	struct object_recent *recent = &table->recent[(id >> 3 ^ id >> 9) % OBJECT_RECENT];

	if (!recent->place || recent->id != id)
		*recent = (struct object_recent){ id, object_table_find(table, id) };
	return &table->items[recent->place - 1];
}

void object_table_free(struct object_table *table)
{
	free(table->items);
	table_free(&table->by_id);
	*table = (struct object_table){ 0 };
}

static void object_table_add(struct memory_class *to, const struct object_class *from)
{
	to->live += from->live;
	to->newborn += from->newborn;
	to->garbage += from->garbage;
	to->old += from->old;
	to->slot_bytes += from->slot_bytes;
	to->other_bytes += from->other_bytes;
	to->native_bytes += from->native_bytes;
	to->retained += from->retained;
}

/* The row of a name, which the pool has once; `rows`: name -> position + 1. */
static struct memory_class *object_table_row(struct memory_runtime *runtime, struct table *rows,
					     const char *name)
{
	size_t place = (uintptr_t)table_get(rows, (uintptr_t)name);

	if (!place) {
		runtime->classes = memory_grow(runtime->classes, runtime->class_count,
					       &runtime->class_capacity,
					       sizeof(runtime->classes[0]));
		runtime->classes[runtime->class_count++] = (struct memory_class){ .name = name };
		place = runtime->class_count;
		table_put(rows, (uintptr_t)name, (void *)(uintptr_t)place);
	}
	return &runtime->classes[place - 1];
}

static int object_table_compare(const void *left, const void *right)
{
	const struct memory_class *a = left, *b = right;
	uint64_t bytes_a = a->slot_bytes + a->other_bytes, bytes_b = b->slot_bytes + b->other_bytes;

	return bytes_a == bytes_b ? compare_texts(a->name, b->name)
				  : compare_numbers(bytes_b, bytes_a);
}

void object_table_report(const struct object_table *table, const struct object_namer *namer,
			 struct strings *names, struct memory_runtime *runtime)
{
	struct table rows = { 0 };
	struct buffer safe = { 0 };
	size_t i;

	for (i = 0; i < table->count; i++) {
		char name[OBJECT_NAME_MAX] = "";
		const char *kept;

		namer->name(namer->context, table->items[i].id, name, sizeof(name));
		buffer_clear(&safe);
		text_append_safe(&safe, name[0] ? name : "(no name)");
		kept = strings_keep(names, safe.data);
		object_table_add(object_table_row(runtime, &rows, kept), &table->items[i]);
	}
	if (runtime->class_count)
		qsort(runtime->classes, runtime->class_count, sizeof(runtime->classes[0]),
		      object_table_compare);
	buffer_free(&safe);
	table_free(&rows);
}
