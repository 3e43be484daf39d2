/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mallocng, musl's allocator since 1.2.1: what its files share. Groups of up to 32 slots of one size are described out of band, by
 * metas in pages that begin with a secret. A group's header points back to its meta; each slot that is in use has a header, and
 * what it does not use of its end is written there.
 */
#ifndef HEAP_MALLOCNG_H
#define HEAP_MALLOCNG_H

#include "heap/census.h"
#include "heap/heap_search.h"

#define MALLOCNG_UNIT 16
#define MALLOCNG_AREA 4096 /* bytes of a page with metas */
#define MALLOCNG_METAS 101 /* in it */

struct heap_layout {
	uint64_t context; /* struct malloc_context */
	uint64_t head; /* where it has the first area */
	uint64_t secret;
};

/* Is `address` a page of metas with this secret? */
bool mallocng_is_area(struct image *image, uint64_t address, uint64_t secret);

/* A meta, decoded and in itself sound. */
struct mallocng_group {
	uint64_t meta; /* where it is */
	uint64_t memory; /* of the group: a header of a unit, then slots */
	uint64_t stride; /* from slot to slot */
	uint64_t size; /* bytes of header and slots */
	/* Bytes of its own mapping; 0 = it lies in a slot, or in spare memory of a module. */
	uint64_t mapped;
	uint32_t unused; /* a bit for each slot that is not in use */
	unsigned int slots, size_class;
};

/* What was met while all groups were visited. */
struct mallocng_visit {
	bool (*group)(void *context, const struct mallocng_group *group); /* false = enough */
	void (*area)(void *context, uint64_t address); /* may be NULL */
	void *context;
	uint64_t areas, groups, odd_areas, odd_groups; /* filled in; odd: what made no sense */
};

/* Visit all groups. Each area is visited once, whatever leads to it. */
void mallocng_visit(const struct heap_layout *layout, struct image *image,
		    struct mallocng_visit *visit);
/* Look at a meta again. */
bool mallocng_group_read(struct image *image, uint64_t meta, struct mallocng_group *ret_group);

int mallocng_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
