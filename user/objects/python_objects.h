/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of a CPython process by class, looked at from outside: blocks of its pools, and of malloc's where they are too large for
 * pools. An object is what begins, behind the head that its type's flags demand, with a reference count and a type.
 */
#ifndef OBJECTS_PYTHON_OBJECTS_H
#define OBJECTS_PYTHON_OBJECTS_H

#include "base/strings.h"
#include "heap/census.h"
#include "model/memory_report.h"
#include "objects/python_code.h"
#include "objects/python_growth.h"
#include "objects/python_heap.h"
#include "objects/python_longest.h"

/* Bytes of a block that show whether it is an object, and what of. */
#define PYTHON_OBJECTS_BEGIN 192u

/* What a look has found. {0} at first. */
struct python_objects {
	uint64_t blocks, free_blocks; /* of pools */
	/* blocks in use that are objects, and others: of objects' contents */
	uint64_t objects, raw_blocks;
	bool is_strange; /* hardly a block of the pools is an object: they are not as they should be */
	uint64_t torn_pools; /* left out: they changed each time they were read */
	uint64_t unread_pools; /* left out: not in memory any more */
	struct python_longest longest;
	struct python_code code; /* until it is reported */
	uint64_t lost_blocks; /* left out: of malloc's, beyond those that are kept */
};

/* Is it a count of references, of an object that has not been freed? Neither a larger number nor an address is. */
bool python_objects_are_counted(const struct python_heap *heap, uint64_t references);

/* The type of the object that a block of `size` bytes holds, of which `length` are at hand; NULL = it holds none. */
struct python_type *python_objects_type(struct python_heap *heap, const unsigned char *block,
					size_t length, uint64_t size);

/*
 * Count the objects in the pools: in the types of `heap`, which begin at 0. With `growth`, which may be NULL, also those that were made since
 * the first look and stayed.
 */
void python_objects_walk(struct python_heap *heap, struct python_growth *growth,
			 struct python_objects *ret_objects);

/*
 * Count the objects among the blocks of malloc's that `heap` has, too. Those of at most 512 bytes are in pools, unless PYTHONMALLOC has
 * it otherwise.
 */
void python_objects_walk_blocks(struct python_heap *heap, struct python_objects *objects);

/* Fill in what was found. Strings are kept in `names`. With `samples`, how the longest texts begin. Frees what `objects` owns. */
void python_objects_report(struct python_heap *heap, struct python_objects *objects, bool samples,
			   struct strings *names, struct memory_runtime *runtime);

#endif
