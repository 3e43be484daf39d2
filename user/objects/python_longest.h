/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest texts and containers of a census of CPython's objects. */
#ifndef OBJECTS_PYTHON_LONGEST_H
#define OBJECTS_PYTHON_LONGEST_H

#include "model/memory_report.h"
#include "objects/python_heap.h"

#define PYTHON_LONGEST 3 /* of each kind */

enum python_longest_kind {
	PYTHON_LONGEST_STR,
	PYTHON_LONGEST_BYTES,
	PYTHON_LONGEST_LIST,
	PYTHON_LONGEST_DICT,
	PYTHON_LONGEST_TUPLE,
	PYTHON_LONGEST_SET,
	PYTHON_LONGEST_KINDS,
};

struct python_longest_item {
	uint64_t address; /* of the object */
	uint64_t length; /* characters, bytes, items or entries */
	uint64_t bytes; /* of its block, and beyond */
};

/* {0} is empty. Of each kind the longest comes first. */
struct python_longest {
	struct python_longest_item items[PYTHON_LONGEST_KINDS][PYTHON_LONGEST];
};

/*
 * Put an object of `type`, at `address`, that takes so many bytes; `length` bytes of it are at hand. What takes few bytes is not kept, nor
 * what has more items than its bytes can hold.
 */
void python_longest_put(struct python_longest *longest, const struct python_type *type,
			uint64_t address, uint64_t bytes, const unsigned char *object,
			size_t length);

/* Add them to the runtime's. With `samples`, how texts begin. */
void python_longest_report(const struct python_longest *longest, struct python_heap *heap,
			   bool samples, struct memory_runtime *runtime);

#endif
