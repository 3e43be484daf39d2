/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPython's code objects, added up by the file that they are from. */
#ifndef OBJECTS_PYTHON_CODE_H
#define OBJECTS_PYTHON_CODE_H

#include "objects/object_table.h"
#include "objects/python_heap.h"

/* {0} is empty. */
struct python_code {
	struct object_table files; /* by the address of the str that is the path */
};

/* Put a code object of `size` bytes, of which `length` are at hand. Its instructions and its table of lines count with it, without constants and names. */
void python_code_put(struct python_code *code, const struct python_heap *heap,
		     const unsigned char *object, size_t length, uint64_t size);

/* Fill in the runtime's `files`; their names are kept in `strings`. Frees what was put. */
void python_code_report(struct python_code *code, struct python_heap *heap, struct strings *strings,
			struct memory_runtime *runtime);

#endif
