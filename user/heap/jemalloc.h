/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc 5.2 and 5.3; shared by its files. A radix tree maps each page that it owns to the extent
 * (a slab of equal regions, or one large block) containing the page: 2^18 pointers to leaves of
 * 2^18 entries. If it was built on a machine with 57-bit addresses the tree is wide: 2^15 pointers
 * to nodes of 2^15 pointers to leaves of 2^15 entries of two words. That is supported for 5.3.
 */
#ifndef HEAP_JEMALLOC_H
#define HEAP_JEMALLOC_H

#include "heap/address_set.h"
#include "heap/census.h"
#include "image/image_search.h"

#define JEMALLOC_SLOTS (1u << 18)
#define JEMALLOC_NODE (8ull * JEMALLOC_SLOTS) /* bytes of the root, and of a leaf */
#define JEMALLOC_WIDE_SLOTS (1u << 15)
#define JEMALLOC_WIDE_NODE (8ull * JEMALLOC_WIDE_SLOTS) /* bytes of the root, and of a node */
#define JEMALLOC_WIDE_LEAF (16ull * JEMALLOC_WIDE_SLOTS)
#define JEMALLOC_EXTENT 128 /* bytes of an extent's record */
#define JEMALLOC_CLASSES 232 /* number of size classes; also means no class */
#define JEMALLOC_REGIONS 512 /* limit of regions in a slab */

/* What differs between releases. */
struct jemalloc_form {
	const char *version;
	uint64_t entry_flags; /* flag bits of a leaf entry, below the record's address */
	unsigned int state_bits, state_shift, class_shift, free_shift;
	bool low_bits; /* a thread's cache stores only the low 16 bits of the ends of its stacks */
};

extern const struct jemalloc_form jemalloc_forms[2];

/* The location of the heap. */
struct heap_layout {
	const struct jemalloc_form *form;
	uint64_t root;
	bool wide; /* wide tree */
	struct heap_range *tls;
	size_t tls_count;
	bool threads_complete; /* all threads were found */
	/* Large blocks have an extra page, so they may begin anywhere in their first page */
	bool padded;
};

enum jemalloc_state { JEMALLOC_LIVE, JEMALLOC_DIRTY, JEMALLOC_MUZZY, JEMALLOC_RETAINED };

/* A record, decoded. */
struct jemalloc_extent {
	uint64_t record; /* its address */
	uint64_t address, size; /* address of the block, if it is one; bytes of all pages */
	uint64_t bitmap[JEMALLOC_REGIONS / 64]; /* for a slab; 1 = free */
	uint64_t usable; /* live, not a slab: bytes of the block */
	unsigned int arena, state, size_class, free_count;
	bool slab;
	/* Live: its size is valid, and a slab's count of free regions matches its bitmap */
	bool sound;
};

/* Number of regions of a slab; 0 = its count of free ones does not match its bitmap. */
uint64_t jemalloc_slab_regions(const struct jemalloc_extent *extent);
/* Bytes of a block of this class; 0 = no such class. */
uint64_t jemalloc_class_size(unsigned int size_class);
/*
 * Bytes of a live block outside slabs: those of its class; since 5.3.1 a large one has all its
 * pages except the padding, and its class is the next one above. 0 = inconsistent.
 */
uint64_t jemalloc_extent_usable(const struct heap_layout *layout,
				const struct jemalloc_extent *extent);
/* The record's address in a leaf entry; 0 = none. */
uint64_t jemalloc_entry_record(const struct jemalloc_form *form, uint64_t entry);
/* Combine the two words of a wide leaf's entry into the form of other leaves. */
uint64_t jemalloc_entry_join(uint64_t record, uint64_t rest);
/* Decode the record of `entry`; false if it cannot be one. */
bool jemalloc_extent_read(const struct jemalloc_form *form, struct image *image, uint64_t entry,
			  struct jemalloc_extent *ret_extent);
/*
 * The entry of an extent's first page repeats some of the record. For a free extent, in 5.2, it may
 * be out of date.
 */
bool jemalloc_extent_agrees(const struct jemalloc_form *form, uint64_t entry,
			    const struct jemalloc_extent *extent);

/* Callbacks and results of a visit to all extents. */
struct jemalloc_visit {
	/* False = stop. */
	bool (*extent)(void *context, const struct jemalloc_extent *extent);
	/* A leaf of the tree, or a node. May be NULL. */
	void (*leaf)(void *context, uint64_t address, uint64_t size);
	void *context;
	uint64_t leaves, extents, odd_leaves, odd_entries; /* results; odd: inconsistent ones */
};

/* Visit all extents in address order. Reads are bounded by the resident part of the tree. */
void jemalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct jemalloc_visit *visit);

/*
 * Add the blocks in all threads' caches to `blocks`, and give the ranges of the caches' arrays to the
 * sink, which may be NULL. Returns the number of caches; `ret_torn`: number of threads whose cache was
 * not fully understood.
 */
size_t jemalloc_caches(const struct heap_layout *layout, struct image *image,
		       struct address_set *blocks, const struct census_sink *sink,
		       size_t *ret_torn);

/* Find the tree: 0 with `form`, `root`, `wide` and `padded`, -ENOENT, or -ENOTSUP with a reason. */
int jemalloc_search(struct image *image, struct heap_layout *layout, struct error *reason);

/* See struct heap_allocator. */
int jemalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
