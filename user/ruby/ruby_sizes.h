/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of Ruby's objects beyond their slots. */
#ifndef RUBY_RUBY_SIZES_H
#define RUBY_RUBY_SIZES_H

#include "image/window.h"
#include "objects/object_table.h"
#include "ruby/ruby_longest.h"
#include "ruby/ruby_slots.h"

/* What must be read to know the size. */
enum ruby_want_kind {
	RUBY_WANT_NOTHING,
	RUBY_WANT_TABLE, /* a hash table: its struct, and what it declares */
	RUBY_WANT_CHUNK, /* a block of glibc's malloc, by its header */
	RUBY_WANT_DATA, /* the same for an extension's object: native bytes */
};

struct ruby_want {
	enum ruby_want_kind kind;
	uint64_t address;
	uint64_t object; /* the object that it belongs to */
};

/* Larger sizes are rejected. */
#define RUBY_SIZE_MAX (1ull << 40)

/* Bytes known from the slot, and what must be read for the rest. Reads nothing itself. */
uint64_t ruby_sizes_of(const struct ruby_release *layout, const struct ruby_slot *slot,
		       struct ruby_want *ret_want);

/* Queued reads, executed together in address order. */
struct ruby_sizes {
	struct object_table *table;
	struct window window;
	struct ruby_wanted *items; /* owned */
	size_t count;
	struct ruby_longest *longest; /* collects hashes; NULL = not wanted */
	uint64_t failed; /* unreadable or inconsistent */
};

void ruby_sizes_open(struct ruby_sizes *sizes, struct image *image, struct object_table *table);
/* Queue a read; its bytes are added to the class at this table position. */
void ruby_sizes_want(struct ruby_sizes *sizes, const struct ruby_want *want, size_t class);
/* Execute the remaining reads, and free. */
void ruby_sizes_close(struct ruby_sizes *sizes);

#endif
