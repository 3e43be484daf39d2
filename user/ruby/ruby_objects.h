/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts objects of a live Ruby process by class, from outside. An object is live if the last
 * collection found it in use, newborn if it was made since, garbage if the collection did not find
 * it and has not swept it yet. Minor collections assume that old objects are live. Not a snapshot:
 * the program runs.
 */
#ifndef RUBY_RUBY_OBJECTS_H
#define RUBY_RUBY_OBJECTS_H

#include "base/error.h"
#include "base/strings.h"
#include "heap/census.h"
#include "image/image.h"
#include "model/memory_report.h"
#include "ruby/ruby_heap.h"
#include "ruby/ruby_keep.h"
#include "ruby/ruby_slots.h"
#include "ruby/ruby_transient.h"

struct ruby_objects;

/* Counts of a census, in the collector's terms. */
struct ruby_counts {
	uint64_t pages, lost_pages; /* lost: listed before and after, but unreadable */
	uint64_t page_bytes, sparse_pages;
	uint64_t slots, free_slots, missing_slots; /* missing: not resident */
	uint64_t types[RUBY_TYPES]; /* objects in any state */
	uint64_t internal[16]; /* T_IMEMO by kind */
	uint64_t states[RUBY_MISSING + 1];
	/* The collector was marking: live objects are those of the previous collection */
	bool marking;
};

/*
 * Returns 0; -ENOENT: the process runs no Ruby; -ENOTSUP: its version is unsupported, or its
 * structures differ: `reason` has a sentence. Free with ruby_objects_free, before the image.
 */
int ruby_objects_open(struct image *image, struct ruby_objects **ret_objects, struct error *reason);
void ruby_objects_free(struct ruby_objects *objects);
/* For a heap found otherwise; takes ownership of it. */
struct ruby_objects *ruby_objects_new(const struct ruby_heap *heap);

struct ruby_objects_wanted {
	/*
	 * How long to wait for a major collection, so that live objects are really live; 0 = not at
	 * all.
	 */
	uint64_t wait_ns;
	/* State kept over censuses, to find retained objects; NULL = not needed. */
	struct ruby_keep *keep;
	bool holders; /* with `classes`: find holders of objects of the largest ones */
	bool samples; /* holders may show texts of the program */
	/* Limit of memory used, and of the process's memory examined. */
	uint64_t max_bytes;
	/*
	 * Pass all blocks of the allocator to the sink, to count native memory behind an
	 * extension's objects. False if they are unknown. NULL = not needed. Called with `classes`
	 * only, and before anything else.
	 */
	bool (*walk_blocks)(void *context, const struct census_sink *sink);
	void *walk_context;
	bool classes; /* otherwise count only pages and collections, from the structs of pages */
};

/*
 * Take a census. Fills `ret_runtime`, which is {0}; keeps strings in `names`. `ret_counts` may be
 * NULL. Returns 0, or a negative errno with `ret_runtime` empty.
 */
int ruby_objects_census(struct ruby_objects *objects, const struct ruby_objects_wanted *wanted,
			struct strings *names, struct memory_runtime *ret_runtime,
			struct ruby_counts *ret_counts);

/* Call for each page of the heap; [start, end) is its memory. */
void ruby_objects_each_page(struct ruby_objects *objects,
			    void (*page)(void *context, uint64_t start, uint64_t end),
			    void *context);

/* Start of the transient heap, RUBY_TRANSIENT_SIZE bytes; 0 = none in this version, or not yet. */
uint64_t ruby_objects_transient(const struct ruby_objects *objects);

#endif
