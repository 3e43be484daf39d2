/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads CPython's str and dict objects from an image. All of it is untrusted, and may change
 * meanwhile.
 */
#ifndef PYTHON_PYTHON_TEXT_H
#define PYTHON_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "python/python_release.h"

#define PYTHON_TEXT_MAX 256u /* limit of characters read */
#define PYTHON_TEXT_BYTES (PYTHON_TEXT_MAX * 4 + 1)

/*
 * Read a str as UTF-8, truncated to `size` bytes, terminated. False if there is evidently no str at
 * `address`; its type is not checked.
 */
bool python_text_read(struct image *image, const struct python_release *offsets, uint64_t address,
		      char *ret_text, size_t size);

/* The keys of a dict. */
struct python_keys {
	uint64_t entries; /* address of the first entry; 0 = no keys */
	uint64_t count; /* entries used, deleted ones included */
	uint64_t bytes; /* total requested from the allocator */
	uint32_t entry_size, key, value; /* offsets in an entry; value 0 = none */
};

/* Read the header of the keys at `address`. False if inconsistent. */
bool python_keys_read(struct image *image, const struct python_release *offsets, uint64_t address,
		      struct python_keys *ret_keys);

/* Addresses of a key and its value. */
struct python_entry {
	uint64_t key, value;
};

/*
 * Find the entry of a dict with this text as its key. `entry->key` is the address of a str known to
 * equal it, or 0. False and {0} if there is none. Examines the first 1,024 keys.
 */
bool python_dict_find(struct image *image, const struct python_release *offsets, uint64_t dict,
		      const char *key, struct python_entry *entry);

#endif
