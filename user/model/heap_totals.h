/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an allocator uses its memory. */
#ifndef MODEL_HEAP_TOTALS_H
#define MODEL_HEAP_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define HEAP_UNKNOWN UINT64_MAX /* the allocator does not have this figure */

/* Bytes of address space, except `_resident`. {0} is empty. */
struct heap_totals {
	const char *allocator; /* static, or in a report's pool */
	char version[16]; /* as far as known, or "" */
	uint64_t arenas; /* or heaps, or caches, among which threads are distributed */
	uint64_t threads;
	uint64_t live_blocks, live_bytes; /* in use, without headers */
	uint64_t mapped_blocks, mapped_bytes; /* the part of them with their own mapping */
	uint64_t overhead_bytes; /* headers, rounding, internal structures */
	uint64_t free_bytes; /* all free memory, resident or not */
	/* Free and resident, by location. */
	uint64_t bins_resident, fast_resident, thread_caches_resident, top_resident;
	uint64_t live_resident; /* live blocks with their headers */
	/* What malloc_trim(0), or its equivalent, would return now, exact to the page. */
	uint64_t trim_bytes;
	uint64_t stuck_bytes; /* free and resident, but not returned by trimming */
	uint64_t shared_pages_bytes; /* free bytes in pages that also hold live blocks */
	uint64_t unknown_bytes; /* memory that was not understood, or not walked */
	uint64_t resyncs; /* places where the walk had to resynchronize, since the heap changed */
	int64_t growth_blocks, growth_bytes; /* growth of live blocks since the previous look */
	int64_t growth_live_resident; /* of what is in memory of them */
	bool counts_only; /* only the number of blocks is certain, not which ones */
	/* Nevertheless all blocks were named, but those in so many bytes, of so many sizes. */
	bool is_listed;
	uint64_t moving_bytes, moving_sizes;
	struct buffer remarks; /* sentences on failed checks, one per line */
};

void heap_totals_free(struct heap_totals *totals);

/* Add another heap of the same allocator; a figure missing in one is missing in the sum. */
void heap_totals_add(struct heap_totals *sum, const struct heap_totals *other);

/* Add a figure; HEAP_UNKNOWN if either is. */
void heap_totals_add_known(uint64_t *sum, uint64_t number);

/* Total of free and resident memory. */
uint64_t heap_totals_free_resident(const struct heap_totals *totals);

#endif
