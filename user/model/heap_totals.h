/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an allocator's memory is divided. */
#ifndef MODEL_HEAP_TOTALS_H
#define MODEL_HEAP_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define HEAP_UNKNOWN UINT64_MAX /* of a figure that an allocator has not */

/* In bytes of address space, but for `_resident`. {0} is nothing. */
struct heap_totals {
	const char *allocator; /* static, or in a report's pool */
	char version[16]; /* as far as known, or "" */
	uint64_t arenas; /* or heaps, caches: what threads are divided among */
	uint64_t threads;
	uint64_t live_blocks, live_bytes; /* in use, without the allocator's headers */
	uint64_t mapped_blocks, mapped_bytes; /* of these: with a mapping of their own */
	uint64_t overhead_bytes; /* headers, rounding, structures of its own */
	uint64_t free_bytes; /* all that is free, in memory or not */
	/* Free and in memory: by where it is. */
	uint64_t bins_resident, fast_resident, thread_caches_resident, top_resident;
	uint64_t live_resident; /* of live blocks with their headers */
	/* What malloc_trim(0), or its like, would give back now, to the page. */
	uint64_t trim_bytes;
	uint64_t stuck_bytes; /* free and in memory, and never given back by that */
	uint64_t shared_pages_bytes; /* free bytes in pages that also hold live blocks */
	uint64_t unknown_bytes; /* of its memory that was not understood, or not walked */
	uint64_t resyncs; /* places where the walk lost its way, since the heap changed meanwhile */
	int64_t growth_blocks, growth_bytes; /* of live blocks, since the look before */
	bool counts_only; /* blocks are counted, but which ones they are is not certain */
	struct buffer remarks; /* sentences: checks that failed, a line each */
};

void heap_totals_free(struct heap_totals *totals);

/* Add the figures of another heap of the same allocator; what one of them has not is not known of both. */
void heap_totals_add(struct heap_totals *sum, const struct heap_totals *other);

/* Add a figure; HEAP_UNKNOWN if one of the two is. */
void heap_totals_add_known(uint64_t *sum, uint64_t number);

/* What is free and in memory, wherever it is. */
uint64_t heap_totals_free_resident(const struct heap_totals *totals);

#endif
