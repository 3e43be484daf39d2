/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Ruby's objects take beyond their slots. */
#ifndef OBJECTS_RUBY_SIZES_H
#define OBJECTS_RUBY_SIZES_H

#include "heap/window.h"
#include "objects/object_table.h"
#include "objects/ruby_longest.h"
#include "objects/ruby_slots.h"

/* What must be read to know the rest. */
enum ruby_want_kind {
	RUBY_WANT_NOTHING,
	RUBY_WANT_TABLE, /* a hash table: its struct, and what it declares */
	RUBY_WANT_CHUNK, /* a block of glibc's malloc, by its header */
	RUBY_WANT_DATA, /* the same of an extension's object: native bytes */
};

struct ruby_want {
	enum ruby_want_kind kind;
	uint64_t address;
	uint64_t object; /* whose it is */
};

/* A larger figure is none. */
#define RUBY_SIZE_MAX (1ull << 40)

/* Bytes that the slot declares, and what has to be read for more. Reads nothing itself. */
uint64_t ruby_sizes_of(const struct ruby_objects_layout *layout, const struct ruby_slot *slot,
		       struct ruby_want *ret_want);

/* Reads that are wanted, made together in the order of addresses. */
struct ruby_sizes {
	struct object_table *table;
	struct window window;
	struct ruby_wanted *items; /* owned */
	size_t count;
	struct ruby_longest *longest; /* hashes are put there; NULL = they are not */
	uint64_t failed; /* what could not be read, or made no sense */
};

void ruby_sizes_open(struct ruby_sizes *sizes, struct image *image, struct object_table *table);
/* The bytes go to the class at this position of the table. */
void ruby_sizes_want(struct ruby_sizes *sizes, const struct ruby_want *want, size_t class);
/* Make what is left, and free. */
void ruby_sizes_close(struct ruby_sizes *sizes);

#endif
