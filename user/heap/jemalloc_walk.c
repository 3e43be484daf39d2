/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All live blocks of jemalloc: large extents, and the regions of slabs that are neither free nor in a thread's cache. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "heap/jemalloc.h"
#include "image/window.h"

#define BEGINNING 256 /* bytes of a block that are read */
#define WINDOW 65536

struct jemalloc_walker {
	struct image *image;
	const struct census_sink *sink;
	struct heap_totals *totals;
	struct address_set cached; /* blocks in caches */
	struct census_use used; /* as the extents had it, with what is in caches */
	struct address_set records; /* pages with records of extents */
	struct window window;
	uint64_t arenas[4096 / 64];
	uint64_t unlisted, unlisted_bytes; /* extents that are in no mapping */
	bool ended;
};

static void jemalloc_walk_emit(struct jemalloc_walker *walker, uint64_t address, uint64_t size)
{
	struct census_block block = { .address = address, .size = size };

	walker->totals->live_blocks++;
	walker->totals->live_bytes += size;
	if (!walker->sink || walker->ended)
		return;
	block.bytes = window_get_part(&walker->window, address, size < BEGINNING ? size : BEGINNING,
				      &block.length);
	walker->ended = !walker->sink->block(walker->sink->context, &block);
}

/* One block or region, of which `resident` bytes are in memory. */
static void jemalloc_walk_block(struct jemalloc_walker *walker, uint64_t address, uint64_t size,
				uint64_t resident)
{
	struct heap_totals *totals = walker->totals;

	if (address_set_take(&walker->cached, address)) {
		totals->free_bytes += size;
		totals->thread_caches_resident += resident;
		return;
	}
	totals->live_resident += resident;
	jemalloc_walk_emit(walker, address, size);
}

static uint64_t jemalloc_walk_resident(struct jemalloc_walker *walker, uint64_t address,
				       uint64_t size, bool whole)
{
	return whole ? size : image_search_resident(walker->image, address, address + size);
}

/* Free bytes of a slab in pages that also hold live regions. */
static uint64_t jemalloc_walk_shared(const struct jemalloc_extent *slab, uint64_t region,
				     uint64_t count)
{
	uint64_t page, i, used, sum = 0;

	for (page = 0; page < slab->size; page += 4096) {
		used = 0;
		for (i = page / region; i < count && i * region < page + 4096; i++) {
			uint64_t start = i * region < page ? page : i * region;
			uint64_t end = (i + 1) * region;

			end = end > page + 4096 ? page + 4096 : end;
			if (!(slab->bitmap[i / 64] >> i % 64 & 1))
				used += end - start;
		}
		sum += used ? 4096 - used : 0;
	}
	return sum;
}

static void jemalloc_walk_slab(struct jemalloc_walker *walker, const struct jemalloc_extent *slab)
{
	uint64_t region = jemalloc_class_size(slab->size_class), i, resident;
	uint64_t count = jemalloc_slab_regions(slab);
	bool whole = image_search_resident(walker->image, slab->address,
					   slab->address + slab->size) == slab->size;

	for (i = 0; i < count; i++) {
		uint64_t address = slab->address + i * region;

		resident = jemalloc_walk_resident(walker, address, region, whole);
		if (slab->bitmap[i / 64] >> i % 64 & 1) {
			walker->totals->free_bytes += region;
			walker->totals->bins_resident += resident;
		} else {
			jemalloc_walk_block(walker, address, region, resident);
		}
	}
	walker->totals->overhead_bytes += slab->size - count * region;
	if (whole)
		walker->totals->shared_pages_bytes += jemalloc_walk_shared(slab, region, count);
}

static void jemalloc_walk_large(struct jemalloc_walker *walker,
				const struct jemalloc_extent *extent)
{
	uint64_t start = extent->address & ~4095ull;

	walker->totals->overhead_bytes += extent->size - extent->usable;
	jemalloc_walk_block(walker, extent->address, extent->usable,
			    image_search_resident(walker->image, start, start + extent->size));
}

/* Pages that are free: those that are dirty or muzzy are given back by a purge. */
static void jemalloc_walk_free(struct jemalloc_walker *walker, const struct jemalloc_extent *extent)
{
	struct heap_totals *totals = walker->totals;
	uint64_t resident = image_search_resident(walker->image, extent->address,
						  extent->address + extent->size);

	if (extent->state != JEMALLOC_DIRTY && extent->state != JEMALLOC_MUZZY) {
		totals->stuck_bytes += resident;
		return;
	}
	totals->free_bytes += extent->size;
	totals->top_resident += resident;
	totals->trim_bytes += resident;
}

static void jemalloc_use(const struct jemalloc_extent *extent, struct census_use *use)
{
	uint64_t size = extent->usable, count = 1;

	if (!extent->sound || extent->state != JEMALLOC_LIVE)
		return;
	if (extent->slab) {
		size = jemalloc_class_size(extent->size_class);
		count = jemalloc_slab_regions(extent) - extent->free_count;
	}
	use->blocks += count;
	use->bytes += count * size;
}

static bool jemalloc_walk_extent(void *context, const struct jemalloc_extent *extent)
{
	struct jemalloc_walker *walker = context;

	address_set_add(&walker->records, extent->record & ~4095ull);
	if (!extent->sound || !image_find(walker->image, extent->address)) {
		census_sink_unknown(walker->sink, extent->address, extent->address + extent->size);
		if (extent->sound) {
			walker->unlisted++;
			walker->unlisted_bytes += extent->size;
		} else {
			walker->totals->unknown_bytes += extent->size;
		}
		return true;
	}
	if (extent->state != JEMALLOC_LIVE) {
		jemalloc_walk_free(walker, extent);
		return true;
	}
	jemalloc_use(extent, &walker->used);
	walker->arenas[extent->arena / 64] |= 1ull << extent->arena % 64;
	if (extent->slab)
		jemalloc_walk_slab(walker, extent);
	else
		jemalloc_walk_large(walker, extent);
	return !walker->ended;
}

static void jemalloc_walk_leaf(void *context, uint64_t address, uint64_t size)
{
	struct jemalloc_walker *walker = context;

	walker->totals->overhead_bytes +=
		image_search_resident(walker->image, address, address + size);
}

struct jemalloc_count {
	const struct image *image;
	struct census_use use;
	uint64_t unlisted, unlisted_bytes; /* extents that are in no mapping */
};

static bool jemalloc_count_extent(void *context, const struct jemalloc_extent *extent)
{
	struct jemalloc_count *count = context;

	if (image_find(count->image, extent->address)) {
		jemalloc_use(extent, &count->use);
	} else if (extent->sound) {
		count->unlisted++;
		count->unlisted_bytes += extent->size;
	}
	return true;
}

/* The tree and its records alone; caches have moved where as many blocks have. */
static void jemalloc_walk_check(struct jemalloc_walker *walker, const struct heap_layout *layout,
				struct jemalloc_visit *visit)
{
	struct jemalloc_count count = { .image = walker->image };
	struct jemalloc_visit again = { .extent = jemalloc_count_extent, .context = &count };

	jemalloc_visit(layout, walker->image, &again);
	census_check_use(walker->image, &walker->used, &count.use, walker->totals);
	if (image_is_over(walker->image))
		return;
	walker->unlisted = census_both(walker->unlisted, count.unlisted);
	walker->unlisted_bytes = census_both(walker->unlisted_bytes, count.unlisted_bytes);
	visit->odd_entries = census_both(visit->odd_entries, again.odd_entries);
	visit->odd_leaves = census_both(visit->odd_leaves, again.odd_leaves);
}

static void jemalloc_walk_remarks(const struct jemalloc_walker *walker,
				  const struct jemalloc_visit *visit)
{
	struct buffer *remarks = &walker->totals->remarks;
	uint64_t odd = visit->odd_entries + walker->unlisted;

	if (odd)
		buffer_printf(remarks,
			      "jemalloc: entries of its tree that do not agree with what they "
			      "lead to: %" PRIu64 " of %" PRIu64 "\n",
			      odd, odd + visit->extents);
	if (visit->odd_leaves)
		buffer_printf(remarks, "jemalloc: %" PRIu64 " part%s of its tree not understood\n",
			      visit->odd_leaves, units_s(visit->odd_leaves));
	if (!walker->ended && walker->cached.taken < walker->cached.count)
		buffer_printf(
			remarks,
			"jemalloc: %zu of %zu blocks in caches of threads are not in use in its "
			"tree\n",
			walker->cached.count - walker->cached.taken, walker->cached.count);
}

static void jemalloc_walk_finish(struct jemalloc_walker *walker, const struct jemalloc_visit *visit)
{
	struct heap_totals *totals = walker->totals;
	size_t i;

	for (i = 0; i < sizeof(walker->arenas) / sizeof(*walker->arenas); i++)
		totals->arenas += (uint64_t)__builtin_popcountll(walker->arenas[i]);
	totals->overhead_bytes += 4096 * walker->records.count;
	totals->stuck_bytes += totals->bins_resident + totals->thread_caches_resident;
	totals->resyncs = visit->odd_entries;
	totals->unknown_bytes += walker->unlisted_bytes;
	jemalloc_walk_remarks(walker, visit);
}

int jemalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals)
{
	struct jemalloc_walker walker = { .image = image, .totals = ret_totals };
	struct jemalloc_visit visit = { .extent = jemalloc_walk_extent,
					.leaf = jemalloc_walk_leaf,
					.context = &walker };
	size_t torn;

	memset(ret_totals, 0, sizeof(*ret_totals));
	ret_totals->allocator = "jemalloc";
	snprintf(ret_totals->version, sizeof(ret_totals->version), "%s", layout->form->version);
	walker.sink = sink && sink->block ? sink : NULL;
	window_open(&walker.window, image, WINDOW);
	ret_totals->threads = jemalloc_caches(layout, image, &walker.cached, sink, &torn);
	if (torn)
		buffer_printf(&ret_totals->remarks,
			      "jemalloc: of the caches of %zu thread%s not all was understood: "
			      "blocks in them count as in use\n",
			      torn, units_s(torn));
	if (!layout->threads_complete)
		buffer_append_string(&ret_totals->remarks,
				     "jemalloc: not all threads were found: blocks in the caches "
				     "of others count as in use\n");
	jemalloc_visit(layout, image, &visit);
	if (!walker.ended && census_refresh(image))
		jemalloc_walk_check(&walker, layout, &visit);
	jemalloc_walk_finish(&walker, &visit);
	window_close(&walker.window);
	address_set_free(&walker.cached);
	address_set_free(&walker.records);
	return visit.extents ? 0 : -ENODATA;
}
