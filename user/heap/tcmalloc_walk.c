/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All live blocks of tcmalloc: large spans, and the objects of others that are in no list. Lists of a process that allocates
 * meanwhile are not those of one moment; then only counters are used, and no block is named. Who asks for as many as there are gets those
 * of all sizes whose lists can be followed: a free one that has moved from list to list may be among them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "heap/tcmalloc.h"
#include "image/window.h"

#define BEGINNING 256 /* bytes of a block that are read */
#define WINDOW 65536
#define TRIES 3 /* until all lists agree with their counters */

struct tcmalloc_walker {
	struct image *image;
	const struct heap_layout *layout;
	const struct census_sink *sink;
	struct heap_totals *totals;
	struct tcmalloc_spans spans;
	struct tcmalloc_free free;
	struct window window;
	struct heap_range moving; /* spans side by side that are not listed */
	bool partial; /* as many blocks as there are, while the process is at work */
	bool ended;
};

static void tcmalloc_walk_emit(struct tcmalloc_walker *walker, uint64_t address, uint64_t size)
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

static void tcmalloc_walk_objects(struct tcmalloc_walker *walker, const struct tcmalloc_span *span)
{
	uint64_t size = walker->layout->sizes[span->size_class], count = span->size / size, i;
	struct heap_totals *totals = walker->totals;
	bool whole = image_search_resident(walker->image, span->start, span->start + span->size) ==
		     span->size;

	totals->overhead_bytes += span->size - count * size;
	for (i = 0; i < count; i++) {
		uint64_t address = span->start + i * size;
		uint64_t resident =
			whole ? size
			      : image_search_resident(walker->image, address, address + size);

		if (address_set_take(&walker->free.objects, address)) {
			totals->free_bytes += size;
			totals->bins_resident += resident;
		} else {
			totals->live_resident += resident;
			if (!totals->counts_only || walker->partial)
				tcmalloc_walk_emit(walker, address, size);
		}
	}
}

static void tcmalloc_walk_end_moving(struct tcmalloc_walker *walker)
{
	census_sink_unknown(walker->sink, walker->moving.start, walker->moving.end);
	walker->moving = (struct heap_range){ 0 };
}

/* Which of its objects are free, or whether it is still there, is not known. */
static void tcmalloc_walk_moving(struct tcmalloc_walker *walker, const struct tcmalloc_span *span)
{
	walker->totals->moving_bytes += span->size;
	if (span->start != walker->moving.end) {
		tcmalloc_walk_end_moving(walker);
		walker->moving.start = span->start;
	}
	walker->moving.end = span->start + span->size;
}

/* Are its blocks those that they were when lists were followed? */
static bool tcmalloc_walk_is_moving(struct tcmalloc_walker *walker,
				    const struct tcmalloc_span *span)
{
	struct tcmalloc_span now;

	return span->location == TCMALLOC_IN_USE &&
	       (walker->free.moving[span->size_class] ||
		!tcmalloc_span_is_same(walker->image, span, &now));
}

static void tcmalloc_walk_span(struct tcmalloc_walker *walker, const struct tcmalloc_span *span)
{
	struct heap_totals *totals = walker->totals;
	uint64_t resident;

	if (walker->partial && tcmalloc_walk_is_moving(walker, span)) {
		tcmalloc_walk_moving(walker, span);
		return;
	}
	if (span->location == TCMALLOC_IN_USE && span->size_class) {
		tcmalloc_walk_objects(walker, span);
		return;
	}
	resident = image_search_resident(walker->image, span->start, span->start + span->size);
	if (span->location == TCMALLOC_IN_USE) {
		totals->live_resident += resident;
		if (!totals->counts_only || walker->partial)
			tcmalloc_walk_emit(walker, span->start, span->size);
		return;
	}
	if (span->location == TCMALLOC_RETURNED) {
		totals->stuck_bytes += resident;
		return;
	}
	totals->free_bytes += span->size;
	totals->top_resident += resident;
	totals->trim_bytes += resident;
}

/* Large spans, and objects that are neither in their span nor in a list, by counters alone. */
static struct census_use tcmalloc_use(const struct heap_layout *layout,
				      const struct tcmalloc_spans *spans,
				      const struct tcmalloc_free *free)
{
	uint64_t referred[TCMALLOC_CLASSES] = { 0 }, count;
	struct census_use use = { 0 };
	size_t i;

	for (i = 0; i < spans->count; i++) {
		const struct tcmalloc_span *span = &spans->items[i];
		bool is_large = span->location == TCMALLOC_IN_USE && !span->size_class;

		if (span->location == TCMALLOC_IN_USE)
			referred[span->size_class] += span->references;
		use.blocks += is_large;
		use.bytes += is_large ? span->size : 0;
	}
	for (i = 1; i < TCMALLOC_CLASSES; i++) {
		count = referred[i] > free->cached[i] ? referred[i] - free->cached[i] : 0;
		use.blocks += count;
		use.bytes += count * layout->sizes[i];
	}
	return use;
}

static void tcmalloc_walk_count(struct tcmalloc_walker *walker)
{
	struct census_use use = tcmalloc_use(walker->layout, &walker->spans, &walker->free);

	walker->totals->live_blocks = use.blocks;
	walker->totals->live_bytes = use.bytes;
}

/* The tree, its records and the counters of caches alone. */
static void tcmalloc_walk_check(struct tcmalloc_walker *walker)
{
	struct census_use seen = tcmalloc_use(walker->layout, &walker->spans, &walker->free), now;
	struct tcmalloc_spans spans;
	struct tcmalloc_free free;

	tcmalloc_spans_read(walker->layout, walker->image, &spans);
	tcmalloc_free_count(walker->layout, walker->image, &free);
	now = tcmalloc_use(walker->layout, &spans, &free);
	census_check_use(walker->image, &seen, &now, walker->totals);
	if (!image_is_over(walker->image)) {
		walker->spans.odd_leaves = census_both(walker->spans.odd_leaves, spans.odd_leaves);
		walker->spans.odd_spans = census_both(walker->spans.odd_spans, spans.odd_spans);
	}
	tcmalloc_spans_free(&spans);
}

static void tcmalloc_walk_remarks(const struct tcmalloc_walker *walker)
{
	struct buffer *remarks = &walker->totals->remarks;
	const struct address_set *objects = &walker->free.objects;

	if (walker->free.broken)
		buffer_printf(
			remarks,
			"tcmalloc: %" PRIu64
			" list%s not as long as the counter: blocks are counted by counters\n",
			walker->free.broken, units_s(walker->free.broken));
	if (walker->spans.odd_leaves || walker->spans.odd_spans)
		buffer_printf(remarks,
			      "tcmalloc: %" PRIu64 " part%s of its tree and %" PRIu64
			      " page%s in it without a span\n",
			      walker->spans.odd_leaves, units_s(walker->spans.odd_leaves),
			      walker->spans.odd_spans, units_s(walker->spans.odd_spans));
	if (!walker->ended && objects->taken < objects->count)
		buffer_printf(remarks, "tcmalloc: %zu of %zu objects in lists are no objects\n",
			      objects->count - objects->taken, objects->count);
}

/* Until all lists agree: the process may have been at work. For what there is, each of them is followed until it does. */
static void tcmalloc_walk_read(struct tcmalloc_walker *walker)
{
	bool wants_partial = walker->sink && walker->sink->partial;
	struct tcmalloc_free *free = &walker->free;
	bool agree = false;
	unsigned int i;

	for (i = 0; i < (wants_partial ? 1 : TRIES) && !agree; i++) {
		tcmalloc_spans_free(&walker->spans);
		address_set_free(&free->objects);
		tcmalloc_spans_read(walker->layout, walker->image, &walker->spans);
		tcmalloc_free_read(walker->layout, walker->image, &walker->spans,
				   wants_partial ? TCMALLOC_TRIES : 1, free);
		agree = !free->broken && !free->changed;
	}
	walker->totals->counts_only = !agree;
	walker->partial = wants_partial && !agree && !free->is_odd;
}

static void tcmalloc_walk_finish(struct tcmalloc_walker *walker)
{
	struct heap_totals *totals = walker->totals;
	uint64_t cached = walker->free.cached_bytes;
	size_t i;

	tcmalloc_walk_end_moving(walker);
	if (totals->counts_only)
		tcmalloc_walk_count(walker);
	totals->is_listed = walker->partial;
	for (i = 0; i < TCMALLOC_CLASSES && walker->partial; i++)
		totals->moving_sizes += walker->free.moving[i];
	totals->arenas = 1;
	totals->threads = walker->free.caches;
	totals->resyncs = walker->free.broken;
	cached = cached < totals->bins_resident ? cached : totals->bins_resident;
	totals->bins_resident -= cached;
	totals->thread_caches_resident = cached;
	totals->stuck_bytes += totals->bins_resident + cached;
}

int tcmalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals)
{
	struct tcmalloc_walker walker = { .image = image, .layout = layout, .totals = ret_totals };
	size_t i, count;

	memset(ret_totals, 0, sizeof(*ret_totals));
	ret_totals->allocator = "tcmalloc";
	walker.sink = sink && sink->block ? sink : NULL;
	tcmalloc_walk_read(&walker);
	count = walker.spans.count;
	window_open(&walker.window, image, WINDOW);
	for (i = 0; i < count && !walker.ended; i++)
		tcmalloc_walk_span(&walker, &walker.spans.items[i]);
	tcmalloc_walk_finish(&walker);
	if (!walker.ended && census_refresh(image))
		tcmalloc_walk_check(&walker);
	tcmalloc_walk_remarks(&walker);
	window_close(&walker.window);
	tcmalloc_spans_free(&walker.spans);
	address_set_free(&walker.free.objects);
	return count ? 0 : -ENODATA;
}
