/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap_totals.h. */
#include "model/heap_totals.h"

void heap_totals_free(struct heap_totals *totals)
{
	if (!totals)
		return;
	buffer_free(&totals->remarks);
	*totals = (struct heap_totals){ 0 };
}

void heap_totals_add_known(uint64_t *sum, uint64_t number)
{
	*sum = *sum == HEAP_UNKNOWN || number == HEAP_UNKNOWN ? HEAP_UNKNOWN : *sum + number;
}

void heap_totals_add(struct heap_totals *sum, const struct heap_totals *other)
{
	heap_totals_add_known(&sum->arenas, other->arenas);
	heap_totals_add_known(&sum->threads, other->threads);
	heap_totals_add_known(&sum->live_blocks, other->live_blocks);
	heap_totals_add_known(&sum->live_bytes, other->live_bytes);
	heap_totals_add_known(&sum->mapped_blocks, other->mapped_blocks);
	heap_totals_add_known(&sum->mapped_bytes, other->mapped_bytes);
	heap_totals_add_known(&sum->overhead_bytes, other->overhead_bytes);
	heap_totals_add_known(&sum->free_bytes, other->free_bytes);
	heap_totals_add_known(&sum->bins_resident, other->bins_resident);
	heap_totals_add_known(&sum->fast_resident, other->fast_resident);
	heap_totals_add_known(&sum->thread_caches_resident, other->thread_caches_resident);
	heap_totals_add_known(&sum->top_resident, other->top_resident);
	heap_totals_add_known(&sum->live_resident, other->live_resident);
	heap_totals_add_known(&sum->trim_bytes, other->trim_bytes);
	heap_totals_add_known(&sum->stuck_bytes, other->stuck_bytes);
	heap_totals_add_known(&sum->shared_pages_bytes, other->shared_pages_bytes);
	heap_totals_add_known(&sum->unknown_bytes, other->unknown_bytes);
	heap_totals_add_known(&sum->resyncs, other->resyncs);
	sum->counts_only |= other->counts_only;
	if (other->remarks.length)
		buffer_append(&sum->remarks, other->remarks.data, other->remarks.length);
}

uint64_t heap_totals_free_resident(const struct heap_totals *totals)
{
	const uint64_t places[] = { totals->bins_resident, totals->fast_resident,
				    totals->thread_caches_resident, totals->top_resident };
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] != HEAP_UNKNOWN)
			bytes += places[i];
	return bytes;
}
