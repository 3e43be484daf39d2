/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes types of a CPython process: decides whether an address is a type, and what its objects
 * look like, by the type's own type, which is ultimately `type`, and by plausible fields. Caches
 * positive and negative answers by address.
 */
#ifndef PYTHON_PYTHON_TYPE_H
#define PYTHON_PYTHON_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "image/image.h"
#include "python/python_release.h"

#define PYTHON_TYPE_TEXT 64 /* limit of a type's own name, bytes */

#define PYTHON_TYPE_LEAST 800 /* least bytes of a type object defined by the program */

#define PYTHON_SAMPLES 3

/* How objects of a type keep memory beyond their block. */
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
	uint32_t head; /* bytes in the block before the object */
	uint64_t least_size; /* least size of an object's block */
	uint64_t basic_size, item_size; /* of an object, and of each of its items */
	uint64_t dict; /* of the type's own attributes */
	int64_t dict_offset; /* offset of an object's attribute dict; 0 = none, or elsewhere */
	/* Offset of the object's first weak reference, which does not keep it; 0 = none */
	int64_t weak_offset;
	enum python_content content;
	bool is_code;
	char name[PYTHON_TYPE_TEXT]; /* as in the type: with a module only for types defined in C */
	char *description; /* owned; NULL = not read yet */
	uint64_t live, bytes, other_bytes; /* for the caller's use */
	uint64_t retained;
	uint64_t samples[PYTHON_SAMPLES]; /* addresses of some objects */
};

#define PYTHON_TYPE_RECENT 16384u

struct python_types {
	struct image *image;
	const struct python_release *offsets;
	uint64_t type; /* address of the type `type` */
	/* Does an address lie in memory without types? NULL = unknown. */
	bool (*excludes)(void *context, uint64_t address);
	void *context;
	struct table by_address; /* struct python_type */
	/* Recent answers, by a hash of the address; a NULL type: not a type. */
	struct {
		uint64_t address;
		struct python_type *type;
	} recent[PYTHON_TYPE_RECENT];
	uint64_t module_key; /* address of the last str "__module__" found; 0 = none */
	unsigned int waits; /* retries for types whose pages were absent */
	uint64_t asked; /* addresses examined in the process */
};

/* Is the type whose type is itself at `address`? */
bool python_type_is_root(struct image *image, uint64_t address);

/* Find it in the writable data of modules, without symbols; 0 = not found. */
uint64_t python_type_find_root(struct image *image);

/* The type at `address`, or NULL if there is none. Owned by `types`; `types` is to be zeroed and its first fields set by the caller. */
struct python_type *python_type_get(struct python_types *types, uint64_t address);
void python_type_free(struct python_types *types);

/*
 * "module.Class", or "dict" for a builtin; not safe for a terminal. Read once per type, which owns
 * it.
 */
const char *python_type_describe(struct python_types *types, struct python_type *type);

#endif
