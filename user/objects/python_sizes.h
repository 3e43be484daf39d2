/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that an object of CPython's keeps beyond its own block: items of lists, keys and values of dicts, tables of sets. */
#ifndef OBJECTS_PYTHON_SIZES_H
#define OBJECTS_PYTHON_SIZES_H

#include "objects/python_heap.h"

/*
 * Bytes that the object in `block` keeps, of which the first `length` are at hand. Rounded as the allocator does where that is seen; 0 where
 * the fields make no sense.
 */
uint64_t python_sizes_other(struct python_heap *heap, const struct python_type *type,
			    const unsigned char *block, size_t length);

#endif
