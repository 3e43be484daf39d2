/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jemalloc as one of the allocators: what it finds, and what it claims. */
#include "heap/jemalloc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

static void jemalloc_free(struct heap_layout *layout)
{
	if (layout)
		free(layout->tls);
	free(layout);
}

static int jemalloc_find(struct image *image, const struct thread_list *threads,
			 struct heap_layout **ret_layout, struct error *reason)
{
	struct heap_layout *layout = memory_alloc(1, sizeof(*layout));
	int error = jemalloc_search(image, layout, reason);

	*ret_layout = NULL;
	if (error) {
		jemalloc_free(layout);
		return error;
	}
	layout->tls = image_search_tls(image, threads, &layout->tls_count);
	layout->threads_complete = threads->complete;
	*ret_layout = layout;
	return 0;
}

/* Extents that follow each other are one claim. */
struct jemalloc_claim {
	struct claims *claims;
	struct heap_range range;
	struct address_set blocks; /* 2 MB each, of records */
};

static void jemalloc_claim_range(struct jemalloc_claim *claim)
{
	if (claim->range.end > claim->range.start)
		claims_add(claim->claims, PURPOSE_MALLOC_ARENA, claim->range.start,
			   claim->range.end, 0);
}

static bool jemalloc_claim_extent(void *context, const struct jemalloc_extent *extent)
{
	struct jemalloc_claim *claim = context;
	uint64_t start = extent->address & ~4095ull;

	address_set_add(&claim->blocks, extent->record & ~(JEMALLOC_NODE - 1));
	if (start != claim->range.end) {
		jemalloc_claim_range(claim);
		claim->range.start = start;
	}
	claim->range.end = start + extent->size;
	return true;
}

static void jemalloc_claim_leaf(void *context, uint64_t address, uint64_t size)
{
	struct jemalloc_claim *claim = context;

	claims_add(claim->claims, PURPOSE_MALLOC_ARENA, address, address + size, 0);
}

static void jemalloc_claim(const struct heap_layout *layout, struct image *image,
			   struct claims *claims)
{
	struct jemalloc_claim claim = { .claims = claims };
	struct jemalloc_visit visit = { .extent = jemalloc_claim_extent,
					.leaf = jemalloc_claim_leaf,
					.context = &claim };
	size_t i;

	jemalloc_visit(layout, image, &visit);
	jemalloc_claim_range(&claim);
	for (i = 0; i < claim.blocks.capacity; i++) {
		uint64_t start = claim.blocks.slots[i].address;

		if (start && image_search_anonymous(image, start, JEMALLOC_NODE))
			claims_add(claims, PURPOSE_MALLOC_ARENA, start, start + JEMALLOC_NODE, 0);
	}
	address_set_free(&claim.blocks);
}

const struct heap_allocator heap_jemalloc = {
	.name = "jemalloc",
	.find = jemalloc_find,
	.claim = jemalloc_claim,
	.walk = jemalloc_walk,
	.free = jemalloc_free,
};
