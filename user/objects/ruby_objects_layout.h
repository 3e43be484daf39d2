/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of Ruby's heap by version, on 64-bit machines: pages of slots, bitmaps, classes. All
 * releases of a minor version agree; builds with debugging options do not, so ruby_heap.c verifies
 * a layout on the live process before use.
 */
#ifndef OBJECTS_RUBY_OBJECTS_LAYOUT_H
#define OBJECTS_RUBY_OBJECTS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUBY_POOLS 5
#define RUBY_SLOT_SIZE \
	40 /* the least; others are multiples, and bitmaps have a bit for each 40 bytes */

/* Offsets in bytes. */
struct ruby_objects_layout {
	unsigned int major, minor;
	uint32_t page_size; /* and alignment; less malloc's overhead */
	/* Object space: */
	uint16_t pools, pool_size; /* the first of five pools; 0 = pages do not refer to one */
	uint16_t pages; /* its list of pages */
	uint16_t page_count; /* 0 = the list's first word, two words before the entries */
	uint16_t mode; /* flags; the mode is in the lowest two bits */
	uint16_t minor_gcs, major_gcs;
	uint16_t times[2]; /* of collections, in ns, to be added; 0 = none */
	/* Virtual machine: the object space; 0 = it need not be searched, since releases export the former. */
	uint16_t vm_space;
	/* The struct of a page: */
	uint16_t page_struct; /* its size */
	uint16_t slot_size; /* where the size of its slots is; NO_OFFSET = 40 bytes all */
	uint16_t total_slots, free_slots, page_flags, pool, start, mark_bits;
	uint16_t age_bits; /* two for each slot; 0 = the age is in the object's flags */
	/* Class: */
	uint16_t extension; /* offset of its other fields */
	bool extension_is_pointer;
	uint16_t class_name; /* there: its path, a string; 0 = it is one of `variables` */
	/* There: a table of names that belong to the class itself; an array since 3.2. */
	uint16_t variables;
	uint16_t constants; /* there */
	uint16_t code_size; /* in the body of code (iseq) */
	uint64_t singleton; /* flag of singleton classes */
	bool wide_strings; /* the length of an embedded string is a field */
	/* Flags: */
	uint64_t shared; /* string or array that shares another one's bytes */
	uint64_t shared_root; /* array that shares its bytes */
	uint64_t embedded_struct; /* number of members in a struct's slot */
	bool tables_inside; /* slots of hashes and native objects contain more */
	/* Bytes of a shape, which has the names of an object's variables; 0 = its class has them. */
	uint16_t shape_size;
};

#define RUBY_NO_OFFSET UINT16_MAX

extern const struct ruby_objects_layout ruby_objects_layouts[];
extern const size_t ruby_objects_layout_count;

/* The layout of a version such as "3.1.2"; NULL if it is unknown. */
const struct ruby_objects_layout *ruby_objects_layout_find(const char *version);

#endif
