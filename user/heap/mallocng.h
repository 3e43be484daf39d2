/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mallocng, musl's allocator since 1.2.1; shared by its files. Groups of up to 32 slots of one size
 * are described out of band, by metas in pages that begin with a secret. A group's header points
 * back to its meta; each slot in use has a header, and the unused size at its end is stored there.
 */
#ifndef HEAP_MALLOCNG_H
#define HEAP_MALLOCNG_H

#include "heap/census.h"
#include "image/image_search.h"

#define MALLOCNG_UNIT 16
#define MALLOCNG_AREA 4096 /* bytes of a page of metas */
#define MALLOCNG_METAS 101 /* metas per page */

struct heap_layout {
	uint64_t context; /* struct malloc_context */
	uint64_t head; /* the first area */
	uint64_t secret;
};

/* Is `address` a page of metas with this secret? */
bool mallocng_is_area(struct image *image, uint64_t address, uint64_t secret);

/* A decoded, consistent meta. */
struct mallocng_group {
	uint64_t meta; /* where it is */
	uint64_t memory; /* of the group: a header of one unit, then slots */
	uint64_t stride; /* from slot to slot */
	uint64_t size; /* bytes of header and slots */
	/* Bytes of its own mapping; 0 = it lies in a slot, or in spare memory of a module. */
	uint64_t mapped;
	uint32_t unused; /* one bit for each unused slot */
	unsigned int slots, size_class;
};

/* Callbacks and results of a visit to all groups. */
struct mallocng_visit {
	bool (*group)(void *context, const struct mallocng_group *group); /* false = stop */
	void (*area)(void *context, uint64_t address); /* may be NULL */
	void *context;
	uint64_t areas, groups, odd_areas, odd_groups; /* results; odd: inconsistent ones */
	uint64_t odd_area; /* what should be an area, and is none; 0 = there is no such */
};

/* Visit all groups; each area once, even if several pointers lead to it. */
void mallocng_visit(const struct heap_layout *layout, struct image *image,
		    struct mallocng_visit *visit);
/* Read a meta again. */
bool mallocng_group_read(struct image *image, uint64_t meta, struct mallocng_group *ret_group);

int mallocng_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
