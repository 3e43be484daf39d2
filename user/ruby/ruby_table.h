/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads Ruby's hash tables (st_table) in the memory of a live process. Their layout is unchanged
 * since 2.4.
 */
#ifndef RUBY_RUBY_TABLE_H
#define RUBY_RUBY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/image.h"

#define RUBY_TABLE_SIZE 56 /* bytes of the struct */

struct ruby_table {
	uint64_t entries; /* address of the first entry that may be in use */
	uint64_t entry_count; /* entries from there on, removed ones included */
	uint64_t count; /* in use */
	uint64_t bytes; /* size of its entries and bins, without the struct */
};

/* Parse RUBY_TABLE_SIZE bytes. False if they are no table. Reads nothing. */
bool ruby_table_open(const unsigned char *bytes, struct ruby_table *ret_table);

/*
 * Call `entry` for each key and value, at most `max`, until it returns false. False if there is no
 * table, or some entries were unreadable.
 */
bool ruby_table_walk(struct image *image, uint64_t address, uint64_t max,
		     bool (*entry)(void *context, uint64_t key, uint64_t value), void *context);

#endif
