/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The garbage collector of CPython: how often it ran, when it runs next. Found by its lists of objects, which lead back to themselves. */
#ifndef OBJECTS_PYTHON_GC_H
#define OBJECTS_PYTHON_GC_H

#include <stdbool.h>
#include <stdint.h>

#include "objects/python_heap.h"

#define PYTHON_GENERATIONS 3

struct python_gc {
	uint64_t lists; /* address of the first generation's list */
	bool enabled; /* of 3.14: not known, so it is taken for it */
	/* Of each generation, the youngest first: collections; the count of now, and that which starts one (0 = none does). */
	uint64_t collections[PYTHON_GENERATIONS];
	uint32_t counts[PYTHON_GENERATIONS], thresholds[PYTHON_GENERATIONS];
};

/* The first interpreter's. False if it was not found, as while its lists change, or without the symbol of the runtime. */
bool python_gc_read(struct python_heap *heap, struct python_gc *ret_gc);

#endif
