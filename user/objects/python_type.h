/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of a CPython process: is what an address leads to a type, and what are its objects like? Decided by the type's own type,
 * which is `type` in the end, and by fields that must make sense; remembered by address, both ways.
 */
#ifndef OBJECTS_PYTHON_TYPE_H
#define OBJECTS_PYTHON_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "heap/image.h"
#include "objects/python_offsets.h"

#define PYTHON_TYPE_TEXT 64 /* bytes of a type's own name that are read */

#define PYTHON_TYPE_LEAST 800 /* bytes of an object that is a type, where a program has made it */

#define PYTHON_SAMPLES 3

/* What is known of how objects keep more memory than their block. */
enum python_content {
	PYTHON_CONTENT_NONE,
	PYTHON_CONTENT_LIST,
	PYTHON_CONTENT_DICT,
	PYTHON_CONTENT_SET,
	PYTHON_CONTENT_BYTEARRAY,
};

struct python_type {
	uint64_t address;
	uint64_t flags;
	uint32_t head; /* bytes of an object's block in front of the object */
	uint64_t least_size; /* of an object's block */
	uint64_t basic_size, item_size; /* of an object, and of each of its items */
	uint64_t dict; /* of the type's own attributes */
	int64_t dict_offset; /* of the dict of its attributes; 0 = it has none, or not there */
	int64_t weak_offset; /* of the first weak reference to the object, which it does not keep; 0 = none */
	enum python_content content;
	bool is_code;
	char name[PYTHON_TYPE_TEXT]; /* as the type has it: with a module only if it is of C */
	char *description; /* owned; NULL = not asked for yet */
	uint64_t live, bytes, other_bytes; /* for the caller's use */
	uint64_t retained;
	uint64_t samples[PYTHON_SAMPLES]; /* addresses of some of the objects */
};

#define PYTHON_TYPE_RECENT 16384u

struct python_types {
	struct image *image;
	const struct python_offsets *offsets;
	uint64_t type; /* address of the type `type` */
	/* Is an address in memory that holds no types? NULL = none is. */
	bool (*excludes)(void *context, uint64_t address);
	void *context;
	struct table by_address; /* struct python_type */
	/* What was asked lately, by a hash of the address; NULL with that address: no type. */
	struct {
		uint64_t address;
		struct python_type *type;
	} recent[PYTHON_TYPE_RECENT];
	uint64_t module_key; /* address of the str "__module__" that was met last; 0 = none */
	unsigned int waits; /* for types whose pages were not there */
	uint64_t asked; /* addresses that were looked at in the process */
};

/* Is there, at `address`, the type whose type is itself? */
bool python_type_is_root(struct image *image, uint64_t address);

/* Find it in the writable data of the modules, without symbols; 0 = it is not there. */
uint64_t python_type_find_root(struct image *image);

/* The type at `address`, or NULL if there is none. Owned by `types`; `types` is to be zeroed and its first fields set by the caller. */
struct python_type *python_type_get(struct python_types *types, uint64_t address);
void python_type_free(struct python_types *types);

/* "module.Class", or "dict" of what is built in: not safe for a terminal. Read once for each type, which owns it. */
const char *python_type_describe(struct python_types *types, struct python_type *type);

#endif
