/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table from 64-bit keys to pointers. Owns its slots, not the values. Positions depend on a
 * secret of each table: untrusted keys cannot collide on purpose, and walks have no order.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key;
	void *value; /* NULL = the slot is empty */
};

/* {0} is an empty table. */
struct table {
	struct table_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	uint64_t seed; /* 0 = none yet */
};

/* The value of `key`, or NULL. */
void *table_get(const struct table *table, uint64_t key);
/* Set the value of `key`; `value` must not be NULL. */
void table_put(struct table *table, uint64_t key, void *value);
/* Remove `key` and return what it held, or NULL. */
void *table_remove(struct table *table, uint64_t key);
/*
 * Walk: start with `*cursor` 0; returns the next occupied slot, or NULL at the end. The table must not
 * change during the walk.
 */
const struct table_slot *table_next(const struct table *table, size_t *cursor);
/* Free the slots and leave an empty table. */
void table_free(struct table *table);

#endif
