/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the memory with objects of Ruby and Python: blocks that only words there point to may be
 * held by garbage, which the next collection frees. Done once for all passes; pages that come later
 * count as other memory.
 */
#ifndef MEMORY_LEAKS_OBJECTS_H
#define MEMORY_LEAKS_OBJECTS_H

#include "image/image.h"
#include "reach/reach_roots.h"

struct leaks_objects_range {
	uint64_t start, end;
	enum leak_root root;
};

struct leaks_objects {
	struct leaks_objects_range *items; /* owned */
	size_t count, capacity;
};

/* `objects` is {0}; free it with leaks_objects_free. */
void leaks_objects_find(struct leaks_objects *objects, struct image *image);
void leaks_objects_claim(const struct leaks_objects *objects, struct reach_roots *roots);
void leaks_objects_free(struct leaks_objects *objects);

#endif
