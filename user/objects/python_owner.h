/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose memory is at an address of a CPython process: an object, a raw block of a pool, the table of a container that malloc has, or
 * something that ends a search: a class, a module, data of a file, a stack.
 */
#ifndef OBJECTS_PYTHON_OWNER_H
#define OBJECTS_PYTHON_OWNER_H

#include "objects/python_heap.h"

enum python_owner_kind {
	PYTHON_OWNER_NONE, /* free, or nothing that keeps what it leads to */
	PYTHON_OWNER_OBJECT,
	PYTHON_OWNER_RAW, /* a block of a pool that is no object: somebody's items, keys, values */
	PYTHON_OWNER_BLOCK, /* the same of malloc's: an end, if nothing is found to hold it */
	PYTHON_OWNER_TABLE, /* the same, and whose it is is known */
	/* Ends, strong ones first: */
	PYTHON_OWNER_CLASS,
	PYTHON_OWNER_MODULE,
	PYTHON_OWNER_STATIC,
	PYTHON_OWNER_STACK,
	PYTHON_OWNER_MEMORY, /* malloc's, or any other */
};

struct python_owner {
	enum python_owner_kind kind;
	uint64_t address; /* of the object, or where the block or table begins */
	uint64_t size; /* of the block or table */
	struct python_type *type; /* of an object; NULL = raw */
	/* Of a table: its container, and where in that its address is. */
	uint64_t container, field;
	struct python_type *container_type;
};

struct python_owners;

/* Of the heap as it was walked; makes one more walk, for the tables of containers. Free with python_owners_free. */
struct python_owners *python_owners_new(struct python_heap *heap);
void python_owners_free(struct python_owners *owners);

/* Whose is the word at `at`? */
struct python_owner python_owners_find(struct python_owners *owners, uint64_t at);
/* The object whose address this is; PYTHON_OWNER_NONE if there is none. */
struct python_owner python_owners_of_object(struct python_owners *owners, uint64_t address);

#endif
