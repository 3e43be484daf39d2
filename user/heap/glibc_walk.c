/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From chunk to chunk through a heap of glibc's malloc. A chunk is in use if a flag in the next one's header is set. The
 * heap may change meanwhile, and all of it is untrusted: where a header cannot be right, the chunk is read once more; then the walk
 * goes on where 16 headers in a row are sane, and counts what it has left out. It only ever goes forward.
 */
#include "heap/glibc_heap.h"
#include "image/image_search.h"

#include <string.h>

#define WALK_FIRST_BYTES 4096 /* of a block, that the sink gets */
#define WALK_RESYNC_HEADERS 16
#define WALK_RESYNC_READS 64
#define WALK_REFRESHES 3
#define WALK_FENCE_MAX 48 /* what malloc leaves at an end where nothing follows */

static void walk_free(struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	walk->totals->free_bytes += size;
	walk->totals->bins_resident += glibc_blocks_resident(walk, chunk, size);
	glibc_trim_add(walk, chunk, size, GLIBC_PIECE_FREE);
}

static void walk_top(struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	uint64_t resident = image_search_resident(walk->image, chunk, chunk + size);

	walk->totals->free_bytes += size;
	walk->totals->top_resident += resident;
	if (walk->heap->arena)
		walk->totals->stuck_bytes += resident;
	glibc_trim_add(walk, chunk, size, GLIBC_PIECE_TOP);
}

static bool walk_is_sane(const struct glibc_heap *heap, uint64_t chunk, uint64_t head)
{
	uint64_t size = glibc_size(head);

	return !(head & (8 | GLIBC_MMAPPED)) && size >= GLIBC_CHUNK_MIN &&
	       size <= heap->end - chunk;
}

static void walk_in_use(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
			const unsigned char *bytes, size_t length)
{
	if (glibc_lists_take_cache(walk, chunk, size, bytes + GLIBC_HEADER,
				   length - GLIBC_HEADER)) {
		walk->totals->overhead_bytes += size;
		glibc_trim_gap(walk);
	} else if (glibc_lists_take(walk, chunk, size, bytes + GLIBC_HEADER)) {
		glibc_trim_add(walk, chunk, size, GLIBC_PIECE_CANDIDATE);
	} else {
		glibc_trim_gap(walk);
		glibc_blocks_live(walk, chunk, size, bytes, length);
	}
}

/* The header of the chunk behind: prev_size and size. False = it cannot be read. */
static bool walk_next_header(struct glibc_walk *walk, uint64_t address, uint64_t header[2])
{
	if (glibc_blocks_hold(walk, address, 16)) {
		memcpy(header, walk->bytes + (address - walk->start), 16);
		return true;
	}
	return image_read(walk->image, address, header, 16);
}

enum walk_step { WALK_ON, WALK_AGAIN, WALK_END, WALK_LOST };

/* The heap may have become larger since it was listed: its end by malloc's count. */
static uint64_t walk_end_now(struct glibc_walk *walk, const struct glibc_arena *arena)
{
	const struct glibc_heap *heap = walk->heap;

	if (heap->arena)
		return heap->mapped + image_word(walk->image, heap->mapped + 16);
	return (walk->par.sbrk_base ? walk->par.sbrk_base : heap->start) + arena->system_mem;
}

/* The top as it is now, whose header was read before. */
static enum walk_step walk_top_now(struct glibc_walk *walk, const struct glibc_arena *arena)
{
	uint64_t chunk = arena->top, head = image_word(walk->image, chunk + 8);

	if (!walk_is_sane(walk->heap, chunk, head) &&
	    chunk + glibc_size(head) != walk_end_now(walk, arena))
		return WALK_LOST;
	walk_top(walk, chunk, glibc_size(head));
	return WALK_END;
}

/*
 * At a chunk that was the top, or leads beyond it. Where the top has moved, the walk goes on up to it; what lies beyond the list of
 * mappings is newer than the walk.
 */
static enum walk_step walk_at_top(struct glibc_walk *walk, uint64_t chunk)
{
	struct glibc_arena arena = walk->map->arenas[walk->heap->arena];
	bool is_above;

	if (!glibc_arena_read(walk->layout, walk->image, &arena))
		return WALK_LOST;
	if (arena.top == chunk)
		return walk_top_now(walk, &arena);
	if (arena.top > chunk && arena.top < walk->heap->end) {
		is_above = arena.top > walk->top;
		walk->top = arena.top;
		walk->length = 0;
		return is_above ? WALK_AGAIN : WALK_LOST;
	}
	if (arena.top == walk->top)
		return WALK_LOST;
	walk->grew |= arena.top >= walk->heap->end || arena.top < walk->heap->start;
	census_sink_unknown(walk->sink, chunk, walk->heap->end);
	return WALK_END;
}

/* Of a chunk whose header is sane. */
static enum walk_step walk_chunk(struct glibc_walk *walk, uint64_t chunk, uint64_t size)
{
	uint64_t end = chunk + size, next[2];
	size_t length = 0, wanted;
	const unsigned char *bytes;

	if (end == walk->heap->end || (walk->top > chunk && walk->top < end))
		return walk_at_top(walk, chunk);
	wanted = size < WALK_FIRST_BYTES ? size + GLIBC_HEADER : WALK_FIRST_BYTES;
	bytes = glibc_blocks_bytes(walk, chunk, wanted, &length);
	if (!bytes)
		bytes = glibc_blocks_bytes(walk, chunk, GLIBC_CHUNK_MIN, &length);
	if (!bytes || !walk_next_header(walk, end, next))
		return WALK_LOST;
	if (next[1] & GLIBC_PREV_INUSE)
		walk_in_use(walk, chunk, size, bytes, length);
	else if (next[0] == size)
		walk_free(walk, chunk, size);
	else
		return WALK_LOST;
	return WALK_ON;
}

/* Are there sane headers from `chunk` on? Large chunks lead out of the buffer: `reads` are left. */
static bool walk_is_chain(struct glibc_walk *walk, uint64_t chunk, unsigned int *reads)
{
	uint64_t header[2], size, at = chunk;
	int i;

	for (i = 0; i < WALK_RESYNC_HEADERS; i++) {
		if (!glibc_blocks_hold(walk, at, 16) && !(*reads)--) {
			*reads = 0;
			return false;
		}
		if (!walk_next_header(walk, at, header) || !walk_is_sane(walk->heap, at, header[1]))
			return false;
		size = glibc_size(header[1]);
		if (at == walk->top || (at + size == walk->heap->end && i))
			return true;
		at += size;
		if (at >= walk->heap->end)
			return false;
	}
	return true;
}

/* The next place where a chunk seems to begin; the heap's end if there is none. */
static uint64_t walk_resync(struct glibc_walk *walk, uint64_t from)
{
	unsigned int reads = WALK_RESYNC_READS;
	uint64_t at = from, start, end;
	size_t length;

	while (at < walk->heap->end && reads) {
		if (at == walk->top)
			return at;
		if (glibc_blocks_bytes(walk, at, 16, &length)) {
			if (walk_is_chain(walk, at, &reads))
				return at;
			at += 16;
			continue;
		}
		if (!image_next_present(walk->image, at + 1, walk->heap->end, &start, &end))
			break;
		at = start > at ? (start + 15) & ~15ull : at + walk->image->page_size;
	}
	return walk->top > from ? walk->top : walk->heap->end;
}

/* Where the walk goes on behind a place where it cannot. */
static uint64_t walk_recover(struct glibc_walk *walk, uint64_t chunk)
{
	uint64_t next;

	walk->length = 0;
	if (walk->retried != chunk) {
		walk->retried = chunk;
		if (!(image_page(walk->image, chunk + 8) & IMAGE_PRESENT) &&
		    walk->refreshes++ < WALK_REFRESHES)
			image_refresh(walk->image);
		return chunk;
	}
	glibc_trim_gap(walk);
	next = walk_resync(walk, chunk + 16);
	if (next > walk->heap->end)
		next = walk->heap->end;
	walk->totals->resyncs++;
	walk->totals->unknown_bytes += next - chunk;
	census_sink_unknown(walk->sink, chunk, next);
	return next;
}

/* A chunk of 16 bytes ends a run: two do in the main heap, where the program has moved the break itself. */
static uint64_t walk_fence(struct glibc_walk *walk, uint64_t chunk)
{
	uint64_t next;

	glibc_trim_gap(walk);
	if (walk->heap->end - chunk <= WALK_FENCE_MAX) {
		walk->totals->overhead_bytes += walk->heap->end - chunk;
		return walk->heap->end;
	}
	walk->totals->overhead_bytes += 32;
	walk->length = 0;
	next = walk_resync(walk, chunk + 32);
	walk->totals->unknown_bytes += next - (chunk + 32);
	census_sink_unknown(walk->sink, chunk + 32, next);
	return next;
}

/*
 * Is it what malloc leaves at the end of a full heap of a thread where the top had 48 bytes: a
 * chunk of 32 that is no block, then an empty one? Blocks there are marked as of another arena.
 */
static bool walk_is_wide_fence(struct glibc_walk *walk, uint64_t chunk, uint64_t head)
{
	uint64_t next[2];

	return walk->heap->arena && head == (32 | GLIBC_PREV_INUSE) &&
	       walk->heap->end - chunk == WALK_FENCE_MAX &&
	       walk_next_header(walk, chunk + 32, next) && next[1] == GLIBC_PREV_INUSE;
}

/* The address after a chunk of `size`, where the walk continues. */
static uint64_t walk_take(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
			  enum walk_step step)
{
	switch (step) {
	case WALK_ON:
		return chunk + size;
	case WALK_AGAIN:
		return chunk;
	case WALK_END:
		return walk->heap->end;
	default:
		return walk_recover(walk, chunk);
	}
}

static uint64_t walk_step(struct glibc_walk *walk, uint64_t chunk)
{
	const unsigned char *bytes;
	uint64_t head;
	size_t length;

	bytes = glibc_blocks_bytes(walk, chunk, 16, &length);
	if (!bytes)
		return walk_recover(walk, chunk);
	head = glibc_word(bytes + 8);
	if (chunk == walk->top)
		return walk_take(walk, chunk, 0, walk_at_top(walk, chunk));
	if (head == (16 | GLIBC_PREV_INUSE) || head == 16 || walk_is_wide_fence(walk, chunk, head))
		return walk_fence(walk, chunk);
	if (!walk_is_sane(walk->heap, chunk, head))
		return walk_recover(walk, chunk);
	return walk_take(walk, chunk, glibc_size(head), walk_chunk(walk, chunk, glibc_size(head)));
}

void glibc_walk_heap(struct glibc_walk *walk, const struct glibc_heap *heap)
{
	uint64_t at = heap->start, top = walk->map->arenas[heap->arena].top;

	walk->heap = heap;
	walk->top = top >= heap->start && top < heap->end ? top : 0;
	walk->length = 0;
	walk->ahead = walk->room;
	walk->retried = 0;
	glibc_trim_gap(walk);
	if (!heap->anchored)
		at = walk_resync(walk, at);
	while (at < heap->end && !walk->ended)
		at = walk_step(walk, at);
	glibc_trim_gap(walk);
}
