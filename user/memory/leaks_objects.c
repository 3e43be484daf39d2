/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_objects.h. A runtime that cannot be looked into has no such memory: its pages count as other memory. */
#include "memory/leaks_objects.h"

#include <stdlib.h>

#include "base/memory.h"
#include "python/python_heap.h"
#include "ruby/ruby_objects.h"

static void objects_add(struct leaks_objects *objects, uint64_t start, uint64_t end,
			enum leak_root root)
{
	objects->items = memory_grow(objects->items, objects->count, &objects->capacity,
				     sizeof(*objects->items));
	objects->items[objects->count++] = (struct leaks_objects_range){ start, end, root };
}

static void objects_add_page(void *context, uint64_t start, uint64_t end)
{
	objects_add(context, start, end, LEAK_ROOT_RUBY);
}

void leaks_objects_find(struct leaks_objects *objects, struct image *image)
{
	struct ruby_objects *ruby = NULL;
	struct python_heap *python = NULL;
	struct error reason = { 0 };
	size_t i;

	if (!ruby_objects_open(image, &ruby, &reason)) {
		ruby_objects_each_page(ruby, objects_add_page, objects);
		ruby_objects_free(ruby);
	}
	if (python_heap_find(image, &python, &reason))
		return;
	for (i = 0; i < python->arena_count; i++)
		objects_add(objects, python->arenas[i].start, python->arenas[i].end,
			    LEAK_ROOT_PYTHON);
	python_heap_free(python);
}

void leaks_objects_claim(const struct leaks_objects *objects, struct reach_roots *roots)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		reach_roots_add_objects(roots, objects->items[i].start, objects->items[i].end,
					objects->items[i].root);
}

void leaks_objects_free(struct leaks_objects *objects)
{
	free(objects->items);
	*objects = (struct leaks_objects){ 0 };
}
