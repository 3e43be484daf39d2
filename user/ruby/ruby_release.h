/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's structures by release, on 64-bit machines: 2.6 to 4.0. One row per minor version has all
 * that frames, the clock of the collector and the census of objects need; a new release is a row.
 * All releases of a minor version agree; builds with debugging options do not, so a row must pass
 * the checks on the live process before use (ruby_layout.c, ruby_heap.c, ruby_gc_counter.c).
 */
#ifndef RUBY_RUBY_RELEASE_H
#define RUBY_RUBY_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUBY_POOLS 5
#define RUBY_SLOT_SIZE \
	40 /* the least; others are multiples, and bitmaps have a bit for each 40 bytes */

/* Offsets in bytes. */
struct ruby_release {
	unsigned int major, minor;
	/*
	 * Frames. Sources: vm_core.h, rb_execution_context_t, rb_control_frame_t, rb_thread_t,
	 * rb_iseq_constant_body.
	 */
	uint16_t frame_size; /* of a control frame */
	bool by_thread; /* threads are found by their thread structure, not by their execution context */
	uint16_t context_thread; /* execution context: its thread */
	uint16_t thread_context; /* thread: its execution context */
	/* Thread: the native thread, which has the identity; 0 = the thread itself has it. */
	uint16_t thread_native;
	uint16_t identity; /* there: pthread_t */
	uint16_t lines, line_count, line_index; /* iseq body: table of instructions' lines */
	uint16_t line_size; /* of an entry of that table */
	/* Iseq body: the iseq around it, then the method's; 0 = labels are complete. */
	uint16_t parent;
	bool wide_strings; /* strings have their length in a field, embedded ones too */
	/*
	 * Heap, from here on; page_size 0 = unknown for this release. Sources: gc.c (from 3.4
	 * gc/default/default.c), struct rb_objspace, heap_page; internal/class.h; shape.h.
	 */
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
	/* Flags: */
	uint64_t shared; /* string or array that shares another one's bytes */
	uint64_t shared_root; /* array that shares its bytes */
	uint64_t embedded_struct; /* number of members in a struct's slot */
	bool tables_inside; /* slots of hashes and native objects contain more */
	/* Bytes of a shape, which has the names of an object's variables; 0 = its class has them. */
	uint16_t shape_size;
};

#define RUBY_NO_OFFSET UINT16_MAX

/* The row of a version such as "3.1.2"; NULL if it is unknown. */
const struct ruby_release *ruby_release_find(const char *version);

/* Is the heap of this release known? False for NULL. */
bool ruby_release_has_heap(const struct ruby_release *release);

/* The release at position `index` among those whose heap is known; NULL after the last. */
const struct ruby_release *ruby_release_with_heap(size_t index);

struct interpreter;
/* Keep the row of a process's release in its interpreter, and return it. */
void ruby_release_keep(struct interpreter *interpreter, const struct ruby_release *release);
const struct ruby_release *ruby_release_of(const struct interpreter *interpreter);

#endif
