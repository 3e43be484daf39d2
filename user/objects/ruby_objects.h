/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of a live Ruby process from outside, by class. What the last collection has found in use is live, what was made since is newborn,
 * what it has not found and not yet swept is garbage. Minor collections take old objects for live. Not a snapshot: the program runs.
 */
#ifndef OBJECTS_RUBY_OBJECTS_H
#define OBJECTS_RUBY_OBJECTS_H

#include "base/error.h"
#include "base/strings.h"
#include "heap/census.h"
#include "heap/image.h"
#include "model/memory_report.h"
#include "objects/ruby_heap.h"
#include "objects/ruby_keep.h"
#include "objects/ruby_slots.h"
#include "objects/ruby_transient.h"

struct ruby_objects;

/* What a census has counted, as the collector sees it. */
struct ruby_counts {
	uint64_t pages, lost_pages; /* lost: listed, also afterwards, and not to be read */
	uint64_t page_bytes, sparse_pages;
	uint64_t slots, free_slots, missing_slots; /* missing: not in memory */
	uint64_t types[RUBY_TYPES]; /* objects in any state */
	uint64_t internal[16]; /* of T_IMEMO, by its kind */
	uint64_t states[RUBY_MISSING + 1];
	bool marking; /* the collector was marking: what is live is as of the collection before */
};

/*
 * Returns 0; -ENOENT: the process runs no Ruby; -ENOTSUP, with a sentence: its version is not supported, or its structures are not as they
 * should be. Free with ruby_objects_free, before the image.
 */
int ruby_objects_open(struct image *image, struct ruby_objects **ret_objects, struct error *reason);
void ruby_objects_free(struct ruby_objects *objects);
/* Of a heap that was found otherwise, which is the result's from then on. */
struct ruby_objects *ruby_objects_new(const struct ruby_heap *heap);

struct ruby_objects_wanted {
	/* For a major collection to have marked, so that what is live is live; 0 = not at all. */
	uint64_t wait_ns;
	/* Kept over censuses, so that it is known what is retained; NULL = it need not be. */
	struct ruby_keep *keep;
	bool holders; /* with `classes`: who holds objects of the largest ones */
	bool samples; /* what is shown of holders may have texts of the program */
	/* Memory that this may take, and of the process that it may look at. */
	uint64_t max_bytes;
	/*
	 * Passes all blocks of the allocator to the sink, so that what they take behind an extension's objects is counted. False if they
	 * are not known. NULL = it is not wanted. Called with `classes` only, and before anything else.
	 */
	bool (*walk_blocks)(void *context, const struct census_sink *sink);
	void *walk_context;
	bool classes; /* else only pages and collections: nothing but the structs of pages is read */
};

/*
 * Count. Fills `ret_runtime`, which is {0}; strings are kept in `names`. `ret_counts` may be NULL. Returns 0, or a negative errno with
 * `ret_runtime` empty.
 */
int ruby_objects_census(struct ruby_objects *objects, const struct ruby_objects_wanted *wanted,
			struct strings *names, struct memory_runtime *ret_runtime,
			struct ruby_counts *ret_counts);

/* Call for each page of the heap: [start, end) is what Ruby has of it. */
void ruby_objects_each_page(struct ruby_objects *objects,
			    void (*page)(void *context, uint64_t start, uint64_t end),
			    void *context);

/* Where RUBY_TRANSIENT_SIZE bytes of elements of young objects begin; 0 = the version has not that, or not yet. */
uint64_t ruby_objects_transient(const struct ruby_objects *objects);

#endif
