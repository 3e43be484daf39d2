/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts CPython's code objects by source file. */
#ifndef PYTHON_PYTHON_CODE_H
#define PYTHON_PYTHON_CODE_H

#include "objects/object_table.h"
#include "python/python_heap.h"

/* {0} is empty. */
struct python_code {
	struct object_table files; /* by address of the str with the path */
};

/*
 * Add a code object of `size` bytes, of which the first `length` are at hand. Includes its
 * instructions and line table, not its constants and names.
 */
void python_code_put(struct python_code *code, const struct python_heap *heap,
		     const unsigned char *object, size_t length, uint64_t size);

/* Fill in the runtime's `files`; keeps names in `strings`. Frees the counts. */
void python_code_report(struct python_code *code, struct python_heap *heap, struct strings *strings,
			struct memory_runtime *runtime);

#endif
