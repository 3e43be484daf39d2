/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the owner of an address in a CPython process: an object, a raw block of a pool, a
 * container's table in malloc memory, or an end of the search: a class, a module, static data, a
 * stack.
 */
#ifndef PYTHON_PYTHON_OWNER_H
#define PYTHON_PYTHON_OWNER_H

#include "python/python_heap.h"

enum python_owner_kind {
	PYTHON_OWNER_NONE, /* free, or does not keep what it points to */
	PYTHON_OWNER_OBJECT,
	PYTHON_OWNER_RAW, /* a pool block that is no object: items, keys or values of one */
	PYTHON_OWNER_BLOCK, /* the same in malloc memory: an end, if nothing holds it */
	PYTHON_OWNER_TABLE, /* the same, with a known owner */
	/* Ends, strongest first: */
	PYTHON_OWNER_CLASS,
	PYTHON_OWNER_MODULE,
	PYTHON_OWNER_STATIC,
	PYTHON_OWNER_STACK,
	PYTHON_OWNER_MEMORY, /* malloc memory, or any other */
};

struct python_owner {
	enum python_owner_kind kind;
	uint64_t address; /* start of the object, block or table */
	uint64_t size; /* of the block or table */
	struct python_type *type; /* for an object; NULL = raw */
	/* For a table: its container, and the offset of the pointer to it there. */
	uint64_t container, field;
	struct python_type *container_type;
};

struct python_owners;

/*
 * For a walked heap; walks it once more for the tables of containers. Free with python_owners_free.
 */
struct python_owners *python_owners_new(struct python_heap *heap);
void python_owners_free(struct python_owners *owners);

/* The owner of the word at `at`. */
struct python_owner python_owners_find(struct python_owners *owners, uint64_t at);
/* The object at exactly this address; PYTHON_OWNER_NONE if there is none. */
struct python_owner python_owners_of_object(struct python_owners *owners, uint64_t address);

#endif
