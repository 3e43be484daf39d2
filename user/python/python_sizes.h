/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a CPython object beyond its own block: items of lists, keys and values of dicts, tables
 * of sets.
 */
#ifndef PYTHON_PYTHON_SIZES_H
#define PYTHON_PYTHON_SIZES_H

#include "python/python_heap.h"

/*
 * Bytes beyond the object in `block`, of which the first `length` bytes are at hand. Rounded as the
 * allocator does, where observable; 0 if the fields are inconsistent.
 */
uint64_t python_sizes_other(struct python_heap *heap, const struct python_type *type,
			    const unsigned char *block, size_t length);

#endif
