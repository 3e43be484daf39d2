/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The garbage collector of CPython: collections so far and thresholds. Found by its circular lists
 * of objects.
 */
#ifndef PYTHON_PYTHON_GC_H
#define PYTHON_PYTHON_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "python/python_heap.h"

#define PYTHON_GENERATIONS 3

struct python_gc {
	uint64_t lists; /* address of the first generation's list */
	bool enabled; /* unknown in 3.14, and assumed */
	/*
	 * By generation, youngest first: collections; present count; and the threshold of a
	 * collection (0 = none).
	 */
	uint64_t collections[PYTHON_GENERATIONS];
	uint32_t counts[PYTHON_GENERATIONS], thresholds[PYTHON_GENERATIONS];
};

/*
 * Read the first interpreter's collector. False if not found, as while its lists change, or without
 * the symbol of the runtime.
 */
bool python_gc_read(struct python_heap *heap, struct python_gc *ret_gc);

#endif
