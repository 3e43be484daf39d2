/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses a page of Ruby's heap into objects. Reads nothing from the process. */
#ifndef RUBY_RUBY_SLOTS_H
#define RUBY_RUBY_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby_release.h"

#define RUBY_PAGE_MAX 0x10000 /* bytes, in all versions */
#define RUBY_PAGE_STRUCT_MAX 2048

/* Types of objects: the lowest five bits of their flags. */
enum ruby_type {
	RUBY_T_NONE = 0,
	RUBY_T_OBJECT = 1,
	RUBY_T_CLASS = 2,
	RUBY_T_MODULE = 3,
	RUBY_T_FLOAT = 4,
	RUBY_T_STRING = 5,
	RUBY_T_REGEXP = 6,
	RUBY_T_ARRAY = 7,
	RUBY_T_HASH = 8,
	RUBY_T_STRUCT = 9,
	RUBY_T_BIGNUM = 10,
	RUBY_T_FILE = 11,
	RUBY_T_DATA = 12,
	RUBY_T_MATCH = 13,
	RUBY_T_COMPLEX = 14,
	RUBY_T_RATIONAL = 15,
	RUBY_T_SYMBOL = 20,
	RUBY_T_IMEMO = 26,
	RUBY_T_NODE = 27,
	RUBY_T_ICLASS = 28,
	RUBY_T_ZOMBIE = 29,
	RUBY_T_MOVED = 30,
	RUBY_TYPES = 32,
};

/* The state of an object at the time of the read. */
enum ruby_state {
	RUBY_FREE, /* no object */
	RUBY_LIVE, /* in use at the last collection */
	RUBY_NEWBORN, /* made since; not verified yet */
	RUBY_GARBAGE, /* not in use, not swept yet */
	RUBY_MISSING, /* not resident */
};

struct ruby_page {
	const struct ruby_release *layout;
	const unsigned char *bits; /* its struct */
	const unsigned char *bytes; /* the page from `body` on */
	uint64_t body;
	uint32_t start; /* offset of the first slot */
	uint32_t slot_size, total_slots, free_slots;
	bool before_sweep; /* unmarked objects are garbage */
	uint32_t missing; /* one bit per unreadable 4 KB */
};

struct ruby_slot {
	uint64_t address;
	uint64_t flags, class; /* class: 0 = hidden from the program */
	const unsigned char *bytes; /* of the page's slot size */
	uint32_t size;
	enum ruby_type type;
	enum ruby_state state;
	bool old;
};

/*
 * Parse the struct of a page, layout->page_struct bytes. False if it is no page: do not use the
 * result. The caller fills in `bytes` and `missing`.
 */
bool ruby_slots_open(const struct ruby_release *layout, const unsigned char *page_struct,
		     struct ruby_page *ret_page);
/* Size of the page's slots in bytes, from `body` on. */
uint32_t ruby_slots_end(const struct ruby_page *page);
/* A slot by its index, below total_slots. */
void ruby_slots_get(const struct ruby_page *page, uint32_t index, struct ruby_slot *ret_slot);
/* A word of it; 0 beyond its end. */
static inline uint64_t ruby_slots_word(const struct ruby_slot *slot, uint32_t offset)
{
	uint64_t word = 0;

	if (offset + sizeof(word) <= slot->size)
		__builtin_memcpy(&word, slot->bytes + offset, sizeof(word));
	return word;
}

/* Address of an object's native data; 0 = none, or in its slot (ruby_slots_data_inside). */
uint64_t ruby_slots_data(const struct ruby_release *layout, const struct ruby_slot *slot);
/* Offset of native data in the slot; 0 = not in the slot. */
uint32_t ruby_slots_data_inside(const struct ruby_release *layout, const struct ruby_slot *slot);

/* Can it have instance variables without being a plain object? */
bool ruby_slots_has_generic(const struct ruby_slot *slot);

/* "T_STRING"; for the kind of an internal object: "ment", NULL = unknown. */
const char *ruby_slots_type_name(enum ruby_type type);
const char *ruby_slots_internal_name(unsigned int kind);

#endif
