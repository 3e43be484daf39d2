/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's heap in a live process: its object space and the pages of that. The anchor is rb_cObject,
 * which every build exports: it points to a class, the class to its page, the page to the object
 * space, and this must list the page.
 */
#ifndef RUBY_RUBY_HEAP_H
#define RUBY_RUBY_HEAP_H

#include "base/error.h"
#include "image/image.h"
#include "ruby/ruby_release.h"
#include "ruby/ruby_slots.h"

struct ruby_heap {
	struct image *image;
	const struct ruby_release *layout;
	char version[16];
	uint64_t anchor; /* in the interpreter's static data */
	uint64_t object_class; /* the class Object */
	uint64_t space; /* the object space */
	uint64_t vm; /* the virtual machine; 0 = not found */
	/*
	 * Owned: addresses of the pages' structs, without duplicates, as of the last
	 * ruby_heap_list.
	 */
	uint64_t *pages;
	size_t page_count;
	unsigned char *bytes; /* owned: the page read last */
	unsigned char *page_struct; /* owned: and its struct */
	bool mapped_again; /* mappings were listed after the pages */
};

struct ruby_gcs {
	uint64_t minor, major;
	uint64_t ns; /* HEAP_UNKNOWN = the version does not measure it */
	unsigned int mode;
};

enum ruby_mode {
	RUBY_MODE_NONE,
	RUBY_MODE_MARKING, /* mark bits are incomplete */
	RUBY_MODE_SWEEPING,
	RUBY_MODE_COMPACTING,
};

/*
 * Find the heap of the process's Ruby. Returns 0; -ENOENT: it runs no Ruby; -ENOTSUP: its version
 * is unsupported, or its structures differ from that version: `reason` has a sentence. Free with
 * ruby_heap_free.
 */
int ruby_heap_find(struct image *image, struct ruby_heap *ret_heap, struct error *reason);

/* The same for a given version, and given addresses of libruby's exports; 0 = not exported. */
struct ruby_exports {
	uint64_t object; /* rb_cObject */
	uint64_t vm; /* ruby_current_vm_ptr */
};
int ruby_heap_find_as(struct image *image, const struct ruby_release *layout,
		      const struct ruby_exports *exports, struct ruby_heap *ret_heap,
		      struct error *reason);
void ruby_heap_free(struct ruby_heap *heap);

/* List the present pages. False, with the list unchanged, if there is none now. */
bool ruby_heap_list(struct ruby_heap *heap);
/* Is a page in the list, by the address of its struct? */
bool ruby_heap_has(const struct ruby_heap *heap, uint64_t page);

/*
 * Read a page of the list: its struct, then its slots. False if it is no longer a page, or not
 * resident. Valid until the next call.
 */
bool ruby_heap_read(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page);

/* Read only its struct; `bytes` stays unset. */
bool ruby_heap_read_struct(struct ruby_heap *heap, size_t index, struct ruby_page *ret_page);

/*
 * The interpreter's static data: the contiguous writable mappings around the anchor, at most 2 MB.
 */
void ruby_heap_static_range(const struct ruby_heap *heap, uint64_t *ret_start, uint64_t *ret_end);

/* Read the collector's counters. False if unreadable. */
bool ruby_heap_gcs(struct ruby_heap *heap, struct ruby_gcs *ret_gcs);

#endif
