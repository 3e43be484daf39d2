/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All live blocks of mimalloc: those of each page that are in none of its lists, nor in the list of late frees of its heap. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "heap/address_set.h"
#include "heap/mimalloc_walk.h"
#include "image/window.h"

#define BEGINNING 256 /* bytes of a block that are read */
#define WINDOW 65536
#define TRIES 6
#define HEAP_DELAYED 2840 /* in a heap: blocks that other threads have freed */
#define DELAYED_MOST (1u << 20)
#define BLOCKS_MOST 65536

struct mimalloc_walker {
	struct image *image;
	const struct census_sink *sink;
	struct heap_totals *totals;
	struct window window;
	struct address_set heaps, threads;
	struct address_set delayed; /* blocks */
	unsigned char *is_free; /* a byte for each block of a page */
	struct census_use used; /* as the pages had it when their blocks were walked */
	uint64_t pages, odd_pages, broken_lists;
	bool ended;
};

/* Mark the blocks of a list. False if it leads out of the page, or to a block for the second time. */
static bool mimalloc_mark(struct mimalloc_walker *walker, const struct mimalloc_page *page,
			  uint64_t block, uint32_t *count)
{
	const unsigned char *bytes;
	uint64_t index;

	for (*count = 0; block; ++*count) {
		index = (block - page->start) / page->block_size;
		if (block < page->start || index >= page->capacity ||
		    (block - page->start) % page->block_size || walker->is_free[index])
			return false;
		walker->is_free[index] = 1;
		if (page->size > WINDOW)
			window_drop(&walker->window);
		bytes = window_get(&walker->window, block, sizeof(block));
		if (!bytes)
			return false;
		memcpy(&block, bytes, sizeof(block));
	}
	return true;
}

/* The window reads ahead: begin where the page begins, so that its lists are in one piece. */
static bool mimalloc_mark_lists(struct mimalloc_walker *walker, const struct mimalloc_page *page)
{
	uint32_t available, local, of_threads;

	memset(walker->is_free, 0, page->capacity);
	window_drop(&walker->window);
	if (page->size <= WINDOW)
		window_get(&walker->window, page->start, 8);
	return mimalloc_mark(walker, page, page->free, &available) &&
	       mimalloc_mark(walker, page, page->local_free, &local) &&
	       mimalloc_mark(walker, page, page->thread_free, &of_threads) &&
	       page->used + available + local == page->capacity && of_threads <= page->used;
}

static void mimalloc_walk_emit(struct mimalloc_walker *walker, const struct mimalloc_page *page,
			       uint64_t address)
{
	uint64_t size = page->block_size;
	struct census_block block = { .address = address, .size = size, .mapped = page->huge };

	walker->totals->mapped_blocks += page->huge;
	walker->totals->mapped_bytes += page->huge ? size : 0;
	walker->totals->live_blocks++;
	walker->totals->live_bytes += size;
	if (!walker->sink || walker->ended)
		return;
	block.bytes = window_get_part(&walker->window, address, size < BEGINNING ? size : BEGINNING,
				      &block.length);
	walker->ended = !walker->sink->block(walker->sink->context, &block);
}

static void mimalloc_walk_blocks(struct mimalloc_walker *walker, const struct mimalloc_page *page)
{
	struct heap_totals *totals = walker->totals;
	bool whole = image_search_resident(walker->image, page->start, page->start + page->size) ==
		     page->size;
	uint64_t address = page->start, size = page->block_size, resident;
	uint32_t i;

	for (i = 0; i < page->capacity; i++, address += size) {
		resident = whole ? size
				 : image_search_resident(walker->image, address, address + size);
		if (walker->is_free[i] || address_set_take(&walker->delayed, address)) {
			totals->free_bytes += size;
			totals->bins_resident += resident;
		} else {
			totals->live_resident += resident;
			mimalloc_walk_emit(walker, page, address);
		}
	}
	/* What no block was made of yet. */
	totals->free_bytes += page->start + page->size - address;
	totals->top_resident +=
		image_search_resident(walker->image, address, page->start + page->size);
}

/* Blocks that others have freed, and that the heap has not looked at yet. */
static void mimalloc_walk_delayed(struct mimalloc_walker *walker, uint64_t heap)
{
	uint64_t block;
	size_t left = DELAYED_MOST;

	if (!heap || !address_set_add(&walker->heaps, heap) ||
	    !image_read(walker->image, heap + HEAP_DELAYED, &block, sizeof(block)))
		return;
	while (block && left--)
		if (!address_set_add(&walker->delayed, block) ||
		    !image_read(walker->image, block, &block, sizeof(block))) {
			walker->broken_lists++;
			return;
		}
}

static void mimalloc_walk_free(struct mimalloc_walker *walker, const struct mimalloc_page *page)
{
	walker->totals->free_bytes += page->size;
	walker->totals->top_resident +=
		image_search_resident(walker->image, page->start, page->start + page->size);
}

static void mimalloc_use(const struct mimalloc_page *page, struct census_use *use)
{
	use->blocks += page->used;
	use->bytes += page->used * page->block_size;
}

static bool mimalloc_walk_page(void *context, const struct mimalloc_page *given)
{
	struct mimalloc_walker *walker = context;
	struct mimalloc_page page = *given;
	unsigned int try;

	if (!page.block_size) {
		mimalloc_walk_free(walker, &page);
		return true;
	}
	walker->pages++;
	for (try = 0; try < TRIES; try++) {
		if (mimalloc_mark_lists(walker, &page)) {
			mimalloc_use(&page, &walker->used);
			mimalloc_walk_blocks(walker, &page);
			return !walker->ended;
		}
		if (!mimalloc_page_again(walker->image, &page))
			break;
	}
	walker->odd_pages++;
	walker->totals->unknown_bytes += page.size;
	census_sink_unknown(walker->sink, page.start, page.start + page.size);
	return true;
}

static bool mimalloc_walk_segment(void *context, const struct mimalloc_segment *segment)
{
	struct mimalloc_walker *walker = context;

	address_set_add(&walker->threads, segment->thread);
	walker->totals->overhead_bytes += segment->first * MIMALLOC_SLICE;
	return true;
}

static bool mimalloc_walk_heap(void *context, const struct mimalloc_page *page)
{
	if (page->block_size)
		mimalloc_walk_delayed(context, page->heap);
	return true;
}

static bool mimalloc_count_page(void *context, const struct mimalloc_page *page)
{
	mimalloc_use(page, context);
	return true;
}

/* The pages' descriptions alone. */
static void mimalloc_walk_check(const struct mimalloc_walker *walker,
				const struct heap_layout *layout)
{
	struct census_use now = { 0 };
	struct mimalloc_visit visit = { .page = mimalloc_count_page,
					.context = &now,
					.at_once = true };

	mimalloc_visit(layout, walker->image, &visit);
	census_check_use(walker->image, &walker->used, &now, walker->totals);
}

static void mimalloc_walk_remarks(const struct mimalloc_walker *walker,
				  const struct mimalloc_visit *visit)
{
	struct buffer *remarks = &walker->totals->remarks;

	if (visit->odd_segments)
		buffer_printf(remarks, "mimalloc: %" PRIu64 " segment%s without sense\n",
			      visit->odd_segments, units_s(visit->odd_segments));
	if (walker->odd_pages || visit->odd_pages)
		buffer_printf(remarks,
			      "mimalloc: %" PRIu64 " of %" PRIu64
			      " pages have lists that do not agree with their counts\n",
			      walker->odd_pages + visit->odd_pages,
			      walker->pages + visit->odd_pages);
	if (walker->broken_lists)
		buffer_printf(remarks, "mimalloc: %" PRIu64 " broken list%s of late frees\n",
			      walker->broken_lists, units_s(walker->broken_lists));
	if (!walker->ended && walker->delayed.taken < walker->delayed.count)
		buffer_printf(remarks,
			      "mimalloc: %zu of %zu blocks that were freed late are no blocks in "
			      "use\n",
			      walker->delayed.count - walker->delayed.taken, walker->delayed.count);
}

static void mimalloc_walk_finish(struct mimalloc_walker *walker, const struct mimalloc_visit *visit)
{
	struct heap_totals *totals = walker->totals;

	totals->arenas = walker->heaps.count;
	totals->threads = walker->threads.count;
	totals->resyncs = walker->odd_pages + visit->odd_pages;
	/* When pages go back depends on time. */
	totals->trim_bytes = HEAP_UNKNOWN;
	mimalloc_walk_remarks(walker, visit);
	window_close(&walker->window);
	address_set_free(&walker->heaps);
	address_set_free(&walker->threads);
	address_set_free(&walker->delayed);
	free(walker->is_free);
}

int mimalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals)
{
	struct mimalloc_walker walker = { .image = image, .totals = ret_totals };
	struct mimalloc_visit heaps = { .page = mimalloc_walk_heap,
					.context = &walker,
					.at_once = true };
	struct mimalloc_visit visit = { .segment = mimalloc_walk_segment,
					.page = mimalloc_walk_page,
					.context = &walker };

	memset(ret_totals, 0, sizeof(*ret_totals));
	ret_totals->allocator = "mimalloc";
	snprintf(ret_totals->version, sizeof(ret_totals->version), "%s", layout->form->version);
	walker.sink = sink && sink->block ? sink : NULL;
	walker.is_free = memory_alloc(BLOCKS_MOST, 1);
	window_open(&walker.window, image, WINDOW);
	mimalloc_visit(layout, image, &heaps);
	mimalloc_visit(layout, image, &visit);
	if (!walker.ended && census_refresh(image))
		mimalloc_walk_check(&walker, layout);
	mimalloc_walk_finish(&walker, &visit);
	return visit.segments ? 0 : -ENODATA;
}
