/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arenas of glibc's malloc, and the heaps that each has. */
#include "heap/glibc_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/table.h"

#define MAP_TRIES 4
#define MAP_LATE_TRIES 1 /* lists of mappings that are made since the heaps have grown */
#define MAP_ARENA_TAIL 40 /* next, next_free, attached_threads, system_mem, max_system_mem */

static uint64_t map_next(const struct heap_layout *layout, struct image *image, uint64_t arena)
{
	return image_word(image, arena + layout->bins + GLIBC_BINS * 16 + 16);
}

bool glibc_arena_read(const struct heap_layout *layout, struct image *image,
		      struct glibc_arena *arena)
{
	unsigned char bytes[GLIBC_BINS_OLD];
	int i;

	memset(arena->fast, 0, sizeof(arena->fast));
	if (!image_read(image, arena->address, bytes, layout->bins))
		return false;
	arena->top = glibc_word(bytes + layout->bins - 16);
	for (i = 0; i < GLIBC_FASTBINS && layout->bins == GLIBC_BINS_OLD; i++)
		arena->fast[i] = glibc_word(bytes + 16 + i * 8);
	arena->system_mem =
		image_word(image, arena->address + layout->bins + GLIBC_BINS * 16 + 16 + 24);
	return true;
}

static void map_add_heap(struct glibc_map *map, const struct glibc_heap *heap)
{
	if (heap->start >= heap->end || map->heap_count >= GLIBC_HEAPS_MAX)
		return;
	map->heaps =
		memory_grow(map->heaps, map->heap_count, &map->heap_capacity, sizeof(*map->heaps));
	map->heaps[map->heap_count++] = *heap;
}

static uint64_t map_align(uint64_t address)
{
	return (address + 15) & ~15ull;
}

/* The header of an arena's heap: the arena, the heap before, the size. */
static bool map_read_header(struct image *image, uint64_t heap, uint64_t arena, uint64_t *ret_prev,
			    uint64_t *ret_size)
{
	uint64_t words[3];

	if (!image_read(image, heap, words, sizeof(words)) || words[0] != arena ||
	    words[2] > GLIBC_HEAP_MAX || words[1] & (GLIBC_HEAP_MAX - 1))
		return false;
	*ret_prev = words[1];
	*ret_size = words[2];
	return true;
}

/* The heaps of an arena, from the newest, where its top is, to the first, where the arena itself is. */
static bool map_add_heaps(const struct heap_layout *layout, struct image *image,
			  struct glibc_map *map, size_t index, struct table *seen)
{
	struct glibc_arena *arena = &map->arenas[index];
	uint64_t first = arena->address & ~(GLIBC_HEAP_MAX - 1);
	uint64_t header = arena->address - first, at = arena->top & ~(GLIBC_HEAP_MAX - 1);
	uint64_t prev, size;

	for (; at; at = prev) {
		struct glibc_heap heap = { .mapped = at, .arena = index, .anchored = true };

		if (!map_read_header(image, at, arena->address, &prev, &size)) {
			map->late |= !image_find(image, at);
			return false;
		}
		if (table_get(seen, at)) {
			map->cyclic = true;
			return false;
		}
		table_put(seen, at, map);
		heap.start = at + header;
		if (at == first)
			heap.start += layout->bins + GLIBC_BINS * 16 + 16 + MAP_ARENA_TAIL;
		heap.start = map_align(heap.start);
		heap.end = at + size;
		arena->heap_bytes += size;
		map_add_heap(map, &heap);
	}
	return true;
}

/* [heap]: neighbours are one, as the kernel may have split it. */
static bool map_find_brk(const struct image *image, uint64_t base, uint64_t *ret_start,
			 uint64_t *ret_end)
{
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (strcmp(mapping->name, "[heap]"))
			continue;
		*ret_start = mapping->start;
		*ret_end = mapping->end;
		while (++i < image->mapping_count && mapping[1].start == *ret_end &&
		       !strcmp(mapping[1].name, "[heap]"))
			*ret_end = (++mapping)->end;
		if (!base || (base >= *ret_start && base < *ret_end))
			return true;
	}
	return false;
}

/* Where malloc could not extend [heap], its main arena goes on in a mapping. */
static void map_add_elsewhere(struct image *image, struct glibc_map *map)
{
	const struct image_mapping *mapping = image_find(image, map->arenas[0].top);

	if (!mapping || mapping->inode || !mapping->writable)
		return;
	map_add_heap(map, &(struct glibc_heap){ .mapped = mapping->start,
						.start = map_align(mapping->start),
						.end = mapping->end });
}

/* Has [heap] grown since it was listed? Then malloc has more of it, and its top may be there. */
static bool map_is_late(const struct glibc_arena *arena, uint64_t base, uint64_t end)
{
	uint64_t now = base + arena->system_mem;

	return now > end && !(now & 4095) && arena->top >= base && arena->top < now;
}

/*
 * The walk ends at the earlier top, where a chunk begins. A later check finds whether the rest
 * belongs to [heap].
 */
static void map_set_late(struct glibc_map *map, uint64_t base, uint64_t end)
{
	struct glibc_arena *arena = &map->arenas[0];
	uint64_t early;

	map->late = true;
	arena->late_end = base + arena->system_mem;
	arena->heap_bytes = arena->system_mem;
	early = map->early_top;
	map->early_top = arena->top;
	if (arena->top >= end)
		arena->top = early >= base && early < end ? early : end;
}

static void map_add_main(const struct heap_layout *layout, struct image *image,
			 struct glibc_map *map)
{
	struct glibc_arena *arena = &map->arenas[0];
	uint64_t start, end, base, size;
	struct glibc_par par;

	glibc_par_read(layout, image, &par);
	base = par.found ? par.sbrk_base : 0;
	if (arena->top == arena->address + layout->bins - 16)
		return; /* no heap yet */
	if (!map_find_brk(image, base, &start, &end)) {
		map_add_elsewhere(image, map);
		return;
	}
	if (!base)
		base = start;
	map->brk_end = end;
	map_add_heap(map, &(struct glibc_heap){ .mapped = start,
						.start = map_align(base),
						.end = end,
						.anchored = par.found || !(start & 15) });
	if (map_is_late(arena, base, end)) {
		map_set_late(map, base, end);
		return;
	}
	if (arena->top < start || arena->top >= end) {
		map_add_elsewhere(image, map);
		return;
	}
	size = glibc_size(image_word(image, arena->top + 8));
	arena->heap_bytes = arena->top + size - base;
}

static void map_add_arena(struct glibc_map *map, uint64_t address)
{
	map->arenas = memory_grow(map->arenas, map->arena_count, &map->arena_capacity,
				  sizeof(*map->arenas));
	map->arenas[map->arena_count++] = (struct glibc_arena){ .address = address };
}

/* From the main arena to the others, and back. */
static bool map_read_chain(const struct heap_layout *layout, struct image *image,
			   struct glibc_map *map)
{
	uint64_t at = layout->main_arena, prev, size;

	do {
		if (map->arena_count >= GLIBC_ARENAS_MAX)
			return false;
		map_add_arena(map, at);
		if (!glibc_arena_read(layout, image, &map->arenas[map->arena_count - 1]))
			return false;
		at = map_next(layout, image, at);
		if (at == layout->main_arena)
			return true;
	} while (!(at & 15) && (at & (GLIBC_HEAP_MAX - 1)) < 0x100 &&
		 map_read_header(image, at & ~(GLIBC_HEAP_MAX - 1), at, &prev, &size));
	return false;
}

static int map_compare(const void *a, const void *b)
{
	const struct glibc_heap *left = a, *right = b;

	return compare_numbers(left->start, right->start);
}

bool glibc_map_read(const struct heap_layout *layout, struct image *image, struct glibc_map *map)
{
	struct table seen = { 0 };
	size_t i;

	if (!map_read_chain(layout, image, map))
		return false;
	map_add_main(layout, image, map);
	for (i = 1; i < map->arena_count; i++)
		map_add_heaps(layout, image, map, i, &seen);
	table_free(&seen);
	if (map->heap_count)
		qsort(map->heaps, map->heap_count, sizeof(*map->heaps), map_compare);
	/* What overlaps what is before it is a lie. */
	for (i = 1; i < map->heap_count; i++)
		if (map->heaps[i].start < map->heaps[i - 1].end)
			map->heaps[i].end = map->heaps[i].start;
	return true;
}

bool glibc_map_read_settled(const struct heap_layout *layout, struct image *image,
			    struct glibc_map *map)
{
	int i, late = 0;
	bool is_read;
	uint64_t top;

	for (i = 0; i < MAP_TRIES; i++) {
		is_read = glibc_map_read(layout, image, map);
		if (is_read && (!map->late || late++ >= MAP_LATE_TRIES))
			return true;
		if (!image_refresh(image) && is_read)
			return true;
		top = map->early_top;
		glibc_map_free(map);
		map->early_top = top;
	}
	glibc_map_free(map);
	return false;
}

void glibc_map_free(struct glibc_map *map)
{
	free(map->arenas);
	free(map->heaps);
	*map = (struct glibc_map){ 0 };
}

const struct glibc_heap *glibc_map_heap(const struct glibc_map *map, uint64_t address)
{
	size_t low = 0, high = map->heap_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (map->heaps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < map->heap_count && map->heaps[low].start <= address ? &map->heaps[low] : NULL;
}

/* Fields before tcache_bins: their distance has not changed, but for what glibc 2.35 has added. */
void glibc_par_read(const struct heap_layout *layout, struct image *image, struct glibc_par *par)
{
	unsigned char bytes[64 + 24];
	uint32_t most_new, most_old;

	*par = (struct glibc_par){ .address = layout->par };
	if (!layout->par || !image_read(image, layout->par - 64, bytes, sizeof(bytes)))
		return;
	memcpy(&most_new, bytes + 64 - 40, 4);
	memcpy(&most_old, bytes + 64 - 36, 4);
	par->has_thp = most_new == 65536;
	par->found = par->has_thp || most_old == 65536;
	par->sbrk_base = glibc_word(bytes + 64 - 8);
	par->mmapped_mem = glibc_word(bytes + 64 - 24);
	par->thp_pagesize = par->has_thp ? glibc_word(bytes) : 0;
	memcpy(&par->n_mmaps, bytes + 64 - (par->has_thp ? 44 : 40), 4);
	par->tcache_count = glibc_word(bytes + 64 + 16);
}
