/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading CPython's str and dict objects out of an image. All of it is untrusted, and may change meanwhile. */
#ifndef OBJECTS_PYTHON_TEXT_H
#define OBJECTS_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/image.h"
#include "objects/python_offsets.h"

#define PYTHON_TEXT_MAX 256u /* characters that are read of a str */
#define PYTHON_TEXT_BYTES (PYTHON_TEXT_MAX * 4 + 1)

/*
 * Write a str as UTF-8, cut to what `size` bytes hold, terminated. False if there is no str at `address` as far as can be seen
 * without its type.
 */
bool python_text_read(struct image *image, const struct python_offsets *offsets, uint64_t address,
		      char *ret_text, size_t size);

/* The keys of a dict. */
struct python_keys {
	uint64_t entries; /* address of the first entry; 0 = there are no keys */
	uint64_t count; /* entries in use, with those that were deleted */
	uint64_t bytes; /* of all of it, as the allocator was asked for */
	uint32_t entry_size, key, value; /* offsets in an entry; value 0 = it has none */
};

/* Read what the keys at `address` begin with. False if they make no sense. */
bool python_keys_read(struct image *image, const struct python_offsets *offsets, uint64_t address,
		      struct python_keys *ret_keys);

/* Addresses of a key and its value. */
struct python_entry {
	uint64_t key, value;
};

/*
 * Find the entry of a dict whose key is this text. `entry->key` is the address of a str that is known to be it, or 0. False and {0}: the dict has
 * none. Looks at the first 1,024 keys.
 */
bool python_dict_find(struct image *image, const struct python_offsets *offsets, uint64_t dict,
		      const char *key, struct python_entry *entry);

#endif
