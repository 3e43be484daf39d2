/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the objects of a CPython process by class, from outside: in blocks of its pools, and of
 * malloc if they are too large for pools. A block is an object if, behind the header that its
 * type's flags require, it begins with a reference count and a type.
 */
#ifndef PYTHON_PYTHON_OBJECTS_H
#define PYTHON_PYTHON_OBJECTS_H

#include "base/strings.h"
#include "heap/census.h"
#include "model/memory_report.h"
#include "python/python_code.h"
#include "python/python_growth.h"
#include "python/python_heap.h"
#include "python/python_longest.h"

/* Bytes of a block needed to decide whether it is an object, and of which type. */
#define PYTHON_OBJECTS_BEGIN 192u

/* Results of a look. Start with {0}. */
struct python_objects {
	uint64_t blocks, free_blocks; /* of pools */
	/* blocks in use that are objects, and those with contents of objects */
	uint64_t objects, raw_blocks;
	bool is_strange; /* implausible: hardly any block of the pools is an object */
	uint64_t torn_pools; /* skipped: they changed during each read */
	uint64_t unread_pools; /* skipped: no longer resident */
	struct python_longest longest;
	struct python_code code; /* until reported */
	uint64_t lost_blocks; /* skipped: malloc blocks beyond the limit */
};

/* Is this a valid reference count of a live object? Larger numbers and addresses are not. */
bool python_objects_are_counted(const struct python_heap *heap, uint64_t references);

/*
 * The type of the object in a block of `size` bytes, of which `length` are at hand; NULL = no
 * object.
 */
struct python_type *python_objects_type(struct python_heap *heap, const unsigned char *block,
					size_t length, uint64_t size);

/*
 * Count the objects in the pools, into the types of `heap`, which start at 0. `growth` (may be
 * NULL): also count those made since the first look that stayed.
 */
void python_objects_walk(struct python_heap *heap, struct python_growth *growth,
			 struct python_objects *ret_objects);

/*
 * Also count the objects among the malloc blocks of `heap`. Objects of at most 512 bytes are in
 * pools, unless PYTHONMALLOC disables these.
 */
void python_objects_walk_blocks(struct python_heap *heap, struct python_objects *objects);

/*
 * Fill in the results; keeps strings in `names`. `samples`: include the start of the longest texts.
 * Frees what `objects` owns.
 */
void python_objects_report(struct python_heap *heap, struct python_objects *objects, bool samples,
			   struct strings *names, struct memory_runtime *runtime);

#endif
