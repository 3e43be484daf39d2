/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks of glibc's malloc that have mappings of their own. Each begins with a header whose only flag is that; mappings may be
 * joined by the kernel, with each other and with those of others, and these may begin as such a chunk does. malloc counts the chunks
 * and their bytes, so it is known when all are found, and which of too many are none.
 */
#include "heap/glibc_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAPPED_PAGE 4096
#define MAPPED_BUFFER 65536
/* Bytes that are read for chunks that are not at the start of mappings; fewer where no chunk is missing. */
#define MAPPED_SEARCH_BYTES (1ull << 30)
#define MAPPED_SEARCH_LESS (64ull << 20)
#define MAPPED_DROPS 4 /* what looks like a chunk, and is none */
#define MAPPED_DROP_STEPS (1u << 17)
#define MAPPED_INSIDE 256 /* chunks that are looked into */

static bool mapped_is_header(const struct image *image, const uint64_t header[2], uint64_t room,
			     uint64_t *ret_bytes)
{
	uint64_t mask = image->page_size - 1, size = glibc_size(header[1]);

	if ((header[1] & GLIBC_FLAGS) != GLIBC_MMAPPED || header[0] > 1)
		return false;
	/* Since glibc 2.43 the size is without the header. */
	if (size & mask)
		size += GLIBC_HEADER;
	if (size & mask || !size || size > room)
		return false;
	*ret_bytes = size;
	return true;
}

/* An aligned block has a header of its own, which has how far it is from the mapping's start. */
static bool mapped_is_inner(const struct glibc_mapped *mapped, uint64_t chunk,
			    const uint64_t header[2])
{
	uint64_t size = glibc_size(header[1]);

	return (header[1] & GLIBC_FLAGS) == GLIBC_MMAPPED &&
	       (header[0] & ~1ull) == chunk - mapped->start &&
	       (chunk + size == mapped->end || chunk + size + GLIBC_HEADER == mapped->end);
}

static void mapped_find_inner(struct image *image, struct glibc_mapped *mapped)
{
	unsigned char page[MAPPED_PAGE];
	uint64_t align, chunk, header[2];

	if (!image_read(image, mapped->start, page, sizeof(page)))
		return;
	for (align = 32; align < mapped->end - mapped->start; align *= 2) {
		chunk = ((mapped->start + GLIBC_HEADER + align - 1) & ~(align - 1)) - GLIBC_HEADER;
		if (chunk >= mapped->end - GLIBC_CHUNK_MIN || chunk <= mapped->start)
			continue;
		if (chunk - mapped->start + 16 <= sizeof(page))
			memcpy(header, page + (chunk - mapped->start), 16);
		else if (!(image_page(image, chunk) & IMAGE_PRESENT) ||
			 !image_read(image, chunk, header, sizeof(header)))
			continue;
		if (mapped_is_inner(mapped, chunk, header)) {
			mapped->address = chunk + GLIBC_HEADER;
			return;
		}
	}
}

static uint64_t mapped_take(struct image *image, struct glibc_mapped_list *list, uint64_t at,
			    uint64_t bytes)
{
	struct glibc_mapped mapped = { .start = at,
				       .end = at + bytes,
				       .address = at + GLIBC_HEADER };

	mapped_find_inner(image, &mapped);
	mapped.size = mapped.end - mapped.address;
	/* Since glibc 2.43 the end is as that of any chunk. */
	if (glibc_size(image_word(image, at + 8)) & (image->page_size - 1))
		mapped.size -= 8;
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = mapped;
	list->bytes += bytes;
	return at + bytes;
}

static bool mapped_may_hold(const struct image_mapping *mapping)
{
	return !mapping->inode && !mapping->shared && mapping->writable && mapping->readable &&
	       (mapping->name[0] != '[' || !strncmp(mapping->name, "[anon", 5));
}

/* What of [start, end) is before the next heap, and behind those that are at `start`; false if nothing is. */
static bool mapped_next_range(const struct glibc_map *map, uint64_t start, uint64_t end,
			      uint64_t *ret_start, uint64_t *ret_end)
{
	size_t low = 0, high = map->heap_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (map->heaps[middle].end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < map->heap_count && map->heaps[low].mapped <= start; low++)
		start = map->heaps[low].end;
	*ret_start = start;
	*ret_end = low < map->heap_count && map->heaps[low].mapped < end ? map->heaps[low].mapped
									 : end;
	return start < *ret_end;
}

/* Those at the start of a mapping, one behind the other. */
static void mapped_find_first(struct image *image, uint64_t start, uint64_t end, uint64_t expected,
			      struct glibc_mapped_list *list)
{
	uint64_t header[2], bytes;

	while (start < end && list->count < expected &&
	       image_read(image, start, header, sizeof(header)) &&
	       mapped_is_header(image, header, end - start, &bytes))
		start = mapped_take(image, list, start, bytes);
}

/* Behind the chunk at `at` that is known already, or `at`. */
static uint64_t mapped_skip(const struct glibc_mapped_list *list, size_t known, uint64_t at)
{
	size_t low = 0, high = known, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (list->items[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < known && list->items[low].start <= at ? list->items[low].end : at;
}

/* At the pages of `bytes`, which were read at `start`. Returns where to go on. */
static uint64_t mapped_find_in(struct image *image, uint64_t start, const unsigned char *bytes,
			       size_t size, uint64_t end, size_t known,
			       struct glibc_mapped_list *list)
{
	uint64_t header[2], found;
	size_t at;

	for (at = 0; at + 16 <= size; at += image->page_size) {
		if (mapped_skip(list, known, start + at) != start + at)
			return mapped_skip(list, known, start + at);
		memcpy(header, bytes + at, 16);
		if (mapped_is_header(image, header, end - start - at, &found))
			return mapped_take(image, list, start + at, found);
	}
	return start + ((size + image->page_size - 1) & ~(image->page_size - 1));
}

/* `known` chunks are in the order of addresses. */
static void mapped_search(struct image *image, uint64_t start, uint64_t end, uint64_t expected,
			  size_t known, struct glibc_mapped_list *list, uint64_t *budget)
{
	unsigned char *bytes = memory_alloc(1, MAPPED_BUFFER);
	uint64_t run, run_end, at;
	size_t size;

	while (list->count < expected && *budget >= MAPPED_BUFFER &&
	       image_next_present(image, start, end, &run, &run_end)) {
		at = mapped_skip(list, known, run);
		if (at != run) {
			start = at;
			continue;
		}
		size = run_end - run < MAPPED_BUFFER ? run_end - run : MAPPED_BUFFER;
		*budget -= size;
		size = image_read_part(image, run, bytes, size);
		start = size < 16 ? run + image->page_size
				  : mapped_find_in(image, run, bytes, size, end, known, list);
	}
	free(bytes);
}

/* In all that may hold some: at the starts only (`budget` is 0), or page by page, of which `budget` bytes are read. */
static void mapped_find_all(const struct glibc_map *map, struct image *image, uint64_t expected,
			    uint64_t budget, struct glibc_mapped_list *list)
{
	const bool is_thorough = budget;
	uint64_t at, start, end;
	size_t known = list->count, i;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapped_may_hold(mapping))
			continue;
		for (at = mapping->start; list->count < expected &&
					  mapped_next_range(map, at, mapping->end, &start, &end);
		     at = end)
			if (is_thorough)
				mapped_search(image, start, end, expected, known, list, &budget);
			else
				mapped_find_first(image, start, end, expected, list);
	}
}

static uint64_t mapped_bytes(const struct glibc_mapped *mapped)
{
	return mapped->end - mapped->start;
}

/* Find `count` of the first `until` chunks that have `bytes` together, the last ones first. */
static bool mapped_find_drops(const struct glibc_mapped_list *list, size_t until, size_t count,
			      uint64_t bytes, size_t *drops, unsigned int *steps)
{
	uint64_t size;

	if (!count)
		return !bytes;
	while (until-- > 0 && *steps) {
		--*steps;
		size = mapped_bytes(&list->items[until]);
		drops[count - 1] = until;
		if (size <= bytes &&
		    mapped_find_drops(list, until, count - 1, bytes - size, drops, steps))
			return true;
	}
	return false;
}

static void mapped_remove(struct glibc_mapped_list *list, size_t i)
{
	list->bytes -= mapped_bytes(&list->items[i]);
	list->count--;
	memmove(&list->items[i], &list->items[i + 1], (list->count - i) * sizeof(*list->items));
}

static void mapped_insert(struct glibc_mapped_list *list, size_t i,
			  const struct glibc_mapped *mapped)
{
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	memmove(&list->items[i + 1], &list->items[i], (list->count - i) * sizeof(*list->items));
	list->items[i] = *mapped;
	list->bytes += mapped_bytes(mapped);
	list->count++;
}

/* Leave out what is too much, so that the others are what malloc counts. False, and nothing is left out, if that cannot be. */
static bool mapped_choose(const struct glibc_par *par, struct glibc_mapped_list *list)
{
	unsigned int steps = MAPPED_DROP_STEPS;
	size_t drops[MAPPED_DROPS], count;

	if (list->count < par->n_mmaps || list->count - par->n_mmaps > MAPPED_DROPS ||
	    list->bytes < par->mmapped_mem)
		return false;
	count = list->count - par->n_mmaps;
	if (!mapped_find_drops(list, list->count, count, list->bytes - par->mmapped_mem, drops,
			       &steps))
		return false;
	while (count--)
		mapped_remove(list, drops[count]);
	return true;
}

/* What looks like a chunk may hide one that lies in it. */
static bool mapped_choose_inside(struct image *image, const struct glibc_par *par,
				 struct glibc_mapped_list *list)
{
	uint64_t budget = MAPPED_SEARCH_LESS;
	size_t first = list->count, i;

	for (i = 0; i < first && first <= MAPPED_INSIDE && budget >= MAPPED_BUFFER; i++) {
		struct glibc_mapped outer = list->items[i];

		mapped_remove(list, i);
		mapped_search(image, outer.start + image->page_size, outer.end,
			      par->n_mmaps + MAPPED_DROPS, 0, list, &budget);
		if (list->count >= first && mapped_choose(par, list))
			return true;
		while (list->count >= first)
			mapped_remove(list, list->count - 1);
		mapped_insert(list, i, &outer);
	}
	return false;
}

static void mapped_find_counted(const struct glibc_map *map, struct image *image,
				const struct glibc_par *par, struct glibc_mapped_list *list)
{
	uint64_t most = (uint64_t)par->n_mmaps + MAPPED_DROPS;

	mapped_find_all(map, image, par->n_mmaps, 0, list);
	if (mapped_choose(par, list))
		return;
	/* Where others' memory looks like a chunk. */
	glibc_mapped_free(list);
	mapped_find_all(map, image, most, 0, list);
	if (mapped_choose(par, list) || mapped_choose_inside(image, par, list))
		return;
	/* Where others' memory has been joined to the front. */
	mapped_find_all(map, image, most,
			list->count < par->n_mmaps ? MAPPED_SEARCH_BYTES : MAPPED_SEARCH_LESS,
			list);
	if (mapped_choose(par, list))
		return;
	while (list->count > par->n_mmaps)
		mapped_remove(list, list->count - 1);
}

void glibc_mapped_find(const struct glibc_map *map, struct image *image,
		       const struct glibc_par *par, struct glibc_mapped_list *list)
{
	if (!par->found)
		mapped_find_all(map, image, UINT64_MAX, 0, list);
	else if (par->n_mmaps)
		mapped_find_counted(map, image, par, list);
}

/* All of `before` into `list`. False if one is not there any more. */
static bool mapped_take_again(struct image *image, const struct glibc_mapped_list *before,
			      struct glibc_mapped_list *list)
{
	uint64_t header[2], bytes;
	size_t i;

	for (i = 0; i < before->count; i++) {
		const struct glibc_mapped *mapped = &before->items[i];

		if (!image_read(image, mapped->start, header, sizeof(header)) ||
		    !mapped_is_header(image, header, mapped_bytes(mapped), &bytes) ||
		    bytes != mapped_bytes(mapped))
			return false;
		mapped_take(image, list, mapped->start, bytes);
	}
	return true;
}

void glibc_mapped_find_again(const struct glibc_map *map, struct image *image,
			     const struct glibc_par *par, const struct glibc_mapped_list *before,
			     struct glibc_mapped_list *list)
{
	if (par->found && before->count == par->n_mmaps && before->bytes == par->mmapped_mem &&
	    mapped_take_again(image, before, list))
		return;
	glibc_mapped_free(list);
	glibc_mapped_find(map, image, par, list);
}

bool glibc_mapped_find_grown(const struct glibc_map *map, struct image *image,
			     const struct glibc_par *before, const struct glibc_par *now,
			     struct glibc_mapped_list *list)
{
	if (before->found && now->found)
		mapped_find_all(map, image, now->n_mmaps, 0, list);
	if (list->count && list->count >= before->n_mmaps && list->count <= now->n_mmaps &&
	    list->bytes >= before->mmapped_mem && list->bytes <= now->mmapped_mem)
		return true;
	glibc_mapped_free(list);
	return false;
}

void glibc_mapped_free(struct glibc_mapped_list *list)
{
	free(list->items);
	*list = (struct glibc_mapped_list){ 0 };
}
