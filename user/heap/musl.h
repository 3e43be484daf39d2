/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mallocng, musl's allocator since 1.2.1; shared by its files. Groups of up to 32 slots of one size
 * are described out of band, by metas in pages that begin with a secret. A group's header points
 * back to its meta; each slot in use has a header, and the unused size at its end is stored there.
 */
#ifndef HEAP_MUSL_H
#define HEAP_MUSL_H

#include "heap/census.h"
#include "image/image_search.h"

#define MUSL_UNIT 16
#define MUSL_AREA 4096 /* bytes of a page of metas */
#define MUSL_METAS 101 /* metas per page */

struct heap_layout {
	uint64_t context; /* struct malloc_context */
	uint64_t head; /* the first area */
	uint64_t secret;
};

/* Is `address` a page of metas with this secret? */
bool musl_is_area(struct image *image, uint64_t address, uint64_t secret);

/* A decoded, consistent meta. */
struct musl_group {
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
struct musl_visit {
	bool (*group)(void *context, const struct musl_group *group); /* false = stop */
	void (*area)(void *context, uint64_t address); /* may be NULL */
	void *context;
	uint64_t areas, groups, odd_areas, odd_groups; /* results; odd: inconsistent ones */
	uint64_t odd_area; /* what should be an area, and is none; 0 = there is no such */
};

/* Visit all groups; each area once, even if several pointers lead to it. */
void musl_visit(const struct heap_layout *layout, struct image *image, struct musl_visit *visit);
/* Read a meta again. */
bool musl_group_read(struct image *image, uint64_t meta, struct musl_group *ret_group);

int musl_walk(const struct heap_layout *layout, struct image *image, const struct census_sink *sink,
	      struct heap_totals *ret_totals);

#endif
