/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc 5.2 and 5.3: what its files share. A radix tree leads from each page that it owns to the extent (a slab of equal regions, or one
 * large block) that the page is part of: 2^18 pointers to leaves of 2^18 entries. Where it was built on a machine with 57 bits of address
 * the tree is wide: 2^15 pointers to nodes of 2^15 pointers to leaves of 2^15 entries of two words each. That is known of 5.3.
 */
#ifndef HEAP_JEMALLOC_H
#define HEAP_JEMALLOC_H

#include "heap/address_set.h"
#include "heap/census.h"
#include "heap/heap_search.h"

#define JEMALLOC_SLOTS (1u << 18)
#define JEMALLOC_NODE (8ull * JEMALLOC_SLOTS) /* bytes of the root, and of a leaf */
#define JEMALLOC_WIDE_SLOTS (1u << 15)
#define JEMALLOC_WIDE_NODE (8ull * JEMALLOC_WIDE_SLOTS) /* bytes of the root, and of a node */
#define JEMALLOC_WIDE_LEAF (16ull * JEMALLOC_WIDE_SLOTS)
#define JEMALLOC_EXTENT 128 /* bytes of an extent's record */
#define JEMALLOC_CLASSES 232 /* sizes; no size = this one */
#define JEMALLOC_REGIONS 512 /* the most of a slab */

/* What differs between releases. */
struct jemalloc_form {
	const char *version;
	uint64_t entry_flags; /* of an entry in a leaf, below the record's address */
	unsigned int state_bits, state_shift, class_shift, free_shift;
	bool low_bits; /* a thread's cache has ends of its stacks as their low 16 bits */
};

extern const struct jemalloc_form jemalloc_forms[2];

/* How it found the heap. */
struct heap_layout {
	const struct jemalloc_form *form;
	uint64_t root;
	bool wide; /* its tree */
	struct heap_range *tls;
	size_t tls_count;
	bool threads_complete; /* there is no thread that was not found */
	bool padded; /* a large block has a page more than it needs, so that it may begin anywhere in its first one */
};

enum jemalloc_state { JEMALLOC_LIVE, JEMALLOC_DIRTY, JEMALLOC_MUZZY, JEMALLOC_RETAINED };

/* A record, decoded. */
struct jemalloc_extent {
	uint64_t record; /* where it is */
	uint64_t address, size; /* the block's own address, where it is one; bytes of all pages */
	uint64_t bitmap[JEMALLOC_REGIONS / 64]; /* of a slab; 1 = free */
	uint64_t usable; /* live, no slab: bytes of the block */
	unsigned int arena, state, size_class, free_count;
	bool slab;
	bool sound; /* live: its size fits, and a slab's count of free regions is that of its bitmap */
};

/* The regions of a slab; 0 = its count of free ones is not that of its bitmap. */
uint64_t jemalloc_slab_regions(const struct jemalloc_extent *extent);
/* The bytes of a block of this class; 0 = there is no such class. */
uint64_t jemalloc_class_size(unsigned int size_class);
/*
 * The bytes of a live block that is no region of a slab: those of its class; since 5.3.1 a large one has all its pages but that of the padding,
 * and its class is the next one above. 0 = that does not fit.
 */
uint64_t jemalloc_extent_usable(const struct heap_layout *layout,
				const struct jemalloc_extent *extent);
/* The address of the record that an entry of a leaf has; 0 = none. */
uint64_t jemalloc_entry_record(const struct jemalloc_form *form, uint64_t entry);
/* The two words of an entry of a wide leaf as one, as leaves of the other kind have it. */
uint64_t jemalloc_entry_join(uint64_t record, uint64_t rest);
/* Decode the record of `entry`; false if it cannot be one. */
bool jemalloc_extent_read(const struct jemalloc_form *form, struct image *image, uint64_t entry,
			  struct jemalloc_extent *ret_extent);
/*
 * The entry of an extent's first page repeats some of the record; of an extent that is free, in 5.2, it may have what it was
 * before.
 */
bool jemalloc_extent_agrees(const struct jemalloc_form *form, uint64_t entry,
			    const struct jemalloc_extent *extent);

/* What was met while all extents were visited. */
struct jemalloc_visit {
	/* False = enough. */
	bool (*extent)(void *context, const struct jemalloc_extent *extent);
	/* A leaf of the tree, or a node. May be NULL. */
	void (*leaf)(void *context, uint64_t address, uint64_t size);
	void *context;
	uint64_t leaves, extents, odd_leaves, odd_entries; /* filled in; odd: what made no sense */
};

/* Visit all extents in the order of their addresses. Reads are bounded by what the tree has in memory. */
void jemalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct jemalloc_visit *visit);

/*
 * Add what the caches of all threads hold to `blocks`. Returns how many caches there are; `ret_torn`: threads of whose cache not all was
 * understood.
 */
size_t jemalloc_caches(const struct heap_layout *layout, struct image *image,
		       struct address_set *blocks, size_t *ret_torn);

/* Find the tree: 0 with `form`, `root`, `wide` and `padded`, -ENOENT, or -ENOTSUP with a reason. */
int jemalloc_search(struct image *image, struct heap_layout *layout, struct error *reason);

/* What struct heap_allocator has. */
int jemalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
