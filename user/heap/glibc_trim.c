/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What malloc_trim(0) would return now, to the page. It first makes one of neighbours that are free, those in fastbins among them;
 * then it gives back the whole pages of each free chunk, behind its header, and those of the main arena's top where it ends at the
 * break. It leaves the caches of threads, and the tops of other arenas.
 */
#include "heap/glibc_heap.h"
#include "image/image_search.h"

#include "base/memory.h"

#define TRIM_HEADER 48 /* what malloc_trim keeps of a free chunk */

/* The free chunk [chunk, chunk + size) after neighbours have become one. */
static void trim_free(struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	uint64_t page = walk->image->page_size, mask = page - 1;
	uint64_t first = (chunk + TRIM_HEADER + mask) & ~mask, whole = (chunk + mask) & ~mask;
	uint64_t end = chunk + size, last = end & ~mask;

	/* Its neighbours are in use, or it would have become one with them. */
	walk->totals->shared_pages_bytes += last > whole ? size - (last - whole) : size;
	if (size <= mask + TRIM_HEADER || first >= end || end - first <= mask)
		return;
	walk->totals->trim_bytes +=
		image_search_resident(walk->image, first, first + ((end - first) & ~mask));
}

static void trim_top(struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	uint64_t unit = walk->image->page_size, end = chunk + size, bytes, extra = 0;
	const struct glibc_heap *heap = glibc_map_heap(walk->map, chunk);

	if (!heap || heap->arena)
		return;
	if (walk->par.thp_pagesize > unit && !(walk->par.thp_pagesize & (unit - 1)) &&
	    !(walk->par.thp_pagesize & (walk->par.thp_pagesize - 1)))
		unit = walk->par.thp_pagesize;
	if (end == walk->map->brk_end && size > GLIBC_CHUNK_MIN + 1)
		extra = (size - GLIBC_CHUNK_MIN - 1) & ~(unit - 1);
	bytes = image_search_resident(walk->image, end - extra, end);
	walk->totals->trim_bytes += bytes;
	walk->totals->stuck_bytes += image_search_resident(walk->image, chunk, end - extra);
}

void glibc_trim_add(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		    enum glibc_piece_kind kind)
{
	walk->pieces = memory_grow(walk->pieces, walk->piece_count, &walk->piece_capacity,
				   sizeof(*walk->pieces));
	walk->pieces[walk->piece_count++] =
		(struct glibc_piece){ .chunk = chunk, .size = size, .kind = kind };
	walk->run_has_candidate |= kind == GLIBC_PIECE_CANDIDATE;
}

void glibc_trim_gap(struct glibc_walk *walk)
{
	size_t i;

	if (walk->run_has_candidate) {
		glibc_trim_add(walk, 0, 0, GLIBC_PIECE_GAP);
	} else {
		for (i = walk->run_start; i < walk->piece_count; i++)
			if (walk->pieces[i].kind == GLIBC_PIECE_TOP)
				trim_top(walk, walk->pieces[i].chunk, walk->pieces[i].size);
			else
				trim_free(walk, walk->pieces[i].chunk, walk->pieces[i].size);
		walk->piece_count = walk->run_start;
	}
	walk->run_start = walk->piece_count;
	walk->run_has_candidate = false;
}

/* Free neighbours so far. */
struct trim_run {
	uint64_t chunk, size;
	bool fast; /* one of them was in a fastbin: only that makes them one with the top */
};

static void trim_flush(struct glibc_walk *walk, struct trim_run *run)
{
	if (run->size)
		trim_free(walk, run->chunk, run->size);
	*run = (struct trim_run){ 0 };
}

static void trim_extend(struct trim_run *run, const struct glibc_piece *piece, bool fast)
{
	if (!run->size)
		run->chunk = piece->chunk;
	run->size += piece->size;
	run->fast |= fast;
}

static void trim_end_top(struct glibc_walk *walk, struct trim_run *run,
			 const struct glibc_piece *piece)
{
	if (!run->fast)
		trim_flush(walk, run);
	trim_extend(run, piece, false);
	trim_top(walk, run->chunk, run->size);
	*run = (struct trim_run){ 0 };
}

void glibc_trim_end(struct glibc_walk *walk)
{
	struct trim_run run = { 0 };
	size_t i, candidate = 0;

	for (i = 0; i < walk->piece_count; i++) {
		const struct glibc_piece *piece = &walk->pieces[i];

		if (piece->kind == GLIBC_PIECE_FREE)
			trim_extend(&run, piece, false);
		else if (piece->kind == GLIBC_PIECE_TOP)
			trim_end_top(walk, &run, piece);
		else if (piece->kind == GLIBC_PIECE_CANDIDATE &&
			 walk->candidates[candidate++].state == GLIBC_FAST)
			trim_extend(&run, piece, true);
		else
			trim_flush(walk, &run);
	}
	trim_flush(walk, &run);
}
