/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gperftools' tcmalloc 2.9 and 2.10, with pages of 8 KB and 48-bit addresses; shared by its files.
 * A tree of 2^17 pointers to leaves of 2^18 entries maps each page to its span: one large block,
 * objects of one class, or free pages. Free objects are in lists through their first words: of
 * their span, of threads, and in chains between both.
 */
#ifndef HEAP_TCMALLOC_H
#define HEAP_TCMALLOC_H

#include "heap/address_set.h"
#include "heap/census.h"
#include "image/image_search.h"

#define TCMALLOC_PAGE 8192ull
#define TCMALLOC_PAGE_SHIFT 13
#define TCMALLOC_ROOT (8ull << 17) /* bytes */
#define TCMALLOC_LEAF (8ull << 18)
#define TCMALLOC_CLASSES 128
#define TCMALLOC_CENTRAL 1216 /* bytes of a class's central lists */

struct heap_layout {
	uint64_t root;
	uint64_t central; /* central list of class 0 */
	uint64_t cache; /* the cache of some thread */
	uint64_t sizes[TCMALLOC_CLASSES]; /* object size of each class; 0 = no class */
};

enum tcmalloc_location { TCMALLOC_IN_USE, TCMALLOC_FREE, TCMALLOC_RETURNED };

/* A span, decoded. */
struct tcmalloc_span {
	uint64_t record; /* address of its description */
	uint64_t start, size; /* address, bytes */
	uint64_t objects; /* list of free objects */
	unsigned int references; /* objects not in that list */
	unsigned int size_class; /* 0 = one large block */
	unsigned int location;
};

struct tcmalloc_spans {
	struct tcmalloc_span *items; /* in address order, not overlapping */
	size_t count, capacity;
	uint64_t *leaves; /* addresses */
	size_t leaf_count, leaf_capacity;
	uint64_t odd_leaves, odd_spans; /* inconsistent ones */
	/* As many spans each class counted before they were read. */
	uint64_t expected[TCMALLOC_CLASSES];
};

/*
 * Read the span at `record`, to which page number `page` points; false if it cannot be that page's.
 */
bool tcmalloc_span_read(struct image *image, uint64_t record, uint64_t page,
			struct tcmalloc_span *ret_span);
/* Is it still the same span, but for its references and its list? `ret_now` gets it. */
bool tcmalloc_span_is_same(struct image *image, const struct tcmalloc_span *span,
			   struct tcmalloc_span *ret_now);
/* All spans. Free with tcmalloc_spans_free. */
void tcmalloc_spans_read(const struct heap_layout *layout, struct image *image,
			 struct tcmalloc_spans *ret_spans);
void tcmalloc_spans_free(struct tcmalloc_spans *spans);

/* Is there a thread cache at `address`? `ret_sizes` gets the sizes of its classes. */
bool tcmalloc_is_cache(struct image *image, uint64_t address, uint64_t ret_sizes[TCMALLOC_CLASSES]);

/* Of a class: how many spans it has, and how many objects are in their lists. */
bool tcmalloc_class_counters(const struct heap_layout *layout, struct image *image,
			     unsigned int size_class, uint64_t ret_counters[2]);

/* All free objects outside of spans' own lists. */
struct tcmalloc_free {
	struct address_set objects; /* includes those of spans' lists */
	uint64_t caches; /* of threads */
	/* Number of objects in threads' lists and in chains, by their counters. */
	uint64_t cached[TCMALLOC_CLASSES];
	uint64_t cached_bytes; /* bytes in threads' lists */
	uint64_t broken; /* lists whose length differs from their counters */
	uint64_t changed; /* lists that agreed only when they were followed again */
	/* Of this class, not all that is free was found. */
	bool moving[TCMALLOC_CLASSES];
	bool is_odd; /* something is broken that belongs to no class */
};

/* How often a list of a process at work is followed. */
#define TCMALLOC_TRIES 64

/*
 * Follow all lists, each up to `tries` times until it agrees with its counter. With one try, no two lists may have an object in
 * common; with more, it has moved from one to the other meanwhile. Objects are visited once in a list, even if links lead in circles.
 */
void tcmalloc_free_read(const struct heap_layout *layout, struct image *image,
			const struct tcmalloc_spans *spans, unsigned int tries,
			struct tcmalloc_free *ret_free);
/* The same by counters alone: follows no list, and leaves `objects` empty. */
void tcmalloc_free_count(const struct heap_layout *layout, struct image *image,
			 struct tcmalloc_free *ret_free);

/* Lists that are being followed; see tcmalloc_follow.c. */
struct tcmalloc_lists {
	struct image *image;
	const struct heap_layout *layout;
	struct tcmalloc_free *free;
	struct tcmalloc_follow *follow; /* NULL: lists are not followed */
};

/* One of them, as it was read last. */
struct tcmalloc_list {
	uint64_t object; /* the first one; 0 = it is empty */
	uint64_t last; /* 0 = the last one leads to 0 */
	uint64_t length; /* by its counter */
	unsigned int size_class;
	/* Read it again; false if it cannot be one. */
	bool (*read)(struct tcmalloc_lists *lists, struct tcmalloc_list *list);
	/* For `read`. */
	uint64_t at;
	unsigned int index;
	const struct tcmalloc_span *span;
};

/* `steps`: how many objects are visited in all. */
struct tcmalloc_follow *tcmalloc_follow_open(unsigned int tries, uint64_t steps);
void tcmalloc_follow_close(struct tcmalloc_follow *follow);
/* Add the objects of a list. Where it does not agree with its counter, its class is moving. */
void tcmalloc_follow(struct tcmalloc_lists *lists, struct tcmalloc_list *list);
/* What is broken, of a class; 0 = of none. */
void tcmalloc_break(struct tcmalloc_lists *lists, unsigned int size_class);

int tcmalloc_search(struct image *image, struct heap_layout *layout, struct error *reason);
int tcmalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
