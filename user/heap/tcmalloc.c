/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcmalloc as one of the allocators: what it finds, and what it claims. */
#include "heap/tcmalloc.h"

#include <stdlib.h>

#include "base/memory.h"

static int tcmalloc_find(struct image *image, const struct thread_list *threads,
			 struct heap_layout **ret_layout, struct error *reason)
{
	struct heap_layout *layout = memory_alloc(1, sizeof(*layout));
	int code = tcmalloc_search(image, layout, reason);

	(void)threads;
	*ret_layout = code ? NULL : layout;
	if (code)
		free(layout);
	return code;
}

/* Spans that follow each other are one claim. */
static void tcmalloc_claim_spans(const struct tcmalloc_spans *spans, struct claims *claims)
{
	struct heap_range range = { 0 };
	size_t i;

	for (i = 0; i < spans->count; i++) {
		const struct tcmalloc_span *span = &spans->items[i];

		if (span->start != range.end) {
			claims_add(claims, PURPOSE_MALLOC_ARENA, range.start, range.end, 0);
			range.start = span->start;
		}
		range.end = span->start + span->size;
	}
	claims_add(claims, PURPOSE_MALLOC_ARENA, range.start, range.end, 0);
}

static void tcmalloc_claim(const struct heap_layout *layout, struct image *image,
			   struct claims *claims)
{
	struct tcmalloc_spans spans;
	struct address_set records = { 0 };
	uint64_t page;
	size_t i;

	tcmalloc_spans_read(layout, image, &spans);
	tcmalloc_claim_spans(&spans, claims);
	for (i = 0; i < spans.leaf_count; i++)
		claims_add(claims, PURPOSE_MALLOC_ARENA, spans.leaves[i],
			   spans.leaves[i] + TCMALLOC_LEAF, 0);
	for (i = 0; i < spans.count; i++) {
		page = spans.items[i].record & ~4095ull;
		if (address_set_add(&records, page))
			claims_add(claims, PURPOSE_MALLOC_ARENA, page, page + 4096, 0);
	}
	address_set_free(&records);
	tcmalloc_spans_free(&spans);
}

static void tcmalloc_free(struct heap_layout *layout)
{
	free(layout);
}

const struct heap_allocator heap_tcmalloc = {
	.name = "tcmalloc",
	.find = tcmalloc_find,
	.claim = tcmalloc_claim,
	.walk = tcmalloc_walk,
	.free = tcmalloc_free,
};
