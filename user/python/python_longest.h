/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the longest texts and containers in a census of CPython's objects. */
#ifndef PYTHON_PYTHON_LONGEST_H
#define PYTHON_PYTHON_LONGEST_H

#include "model/memory_report.h"
#include "python/python_heap.h"

#define PYTHON_LONGEST 3 /* per kind */

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
	uint64_t bytes; /* including its block */
};

/* {0} is empty. By kind, longest first. */
struct python_longest {
	struct python_longest_item items[PYTHON_LONGEST_KINDS][PYTHON_LONGEST];
};

/*
 * Add an object of `type` at `address` that takes `bytes`; `length` bytes of it are at hand.
 * Ignores small objects, and those with more items than their bytes can hold.
 */
void python_longest_put(struct python_longest *longest, const struct python_type *type,
			uint64_t address, uint64_t bytes, const unsigned char *object,
			size_t length);

/* Add them to the runtime; with `samples`, including the start of texts. */
void python_longest_report(const struct python_longest *longest, struct python_heap *heap,
			   bool samples, struct memory_runtime *runtime);

#endif
