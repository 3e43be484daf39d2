/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where glibc's malloc has its main arena and malloc_par, without symbols. An arena has 127 bins, lists whose heads are pairs of
 * pointers: an empty one points to itself, and the first chunk of a full one points back. The last bin is for sizes that no chunk
 * has, so it is always empty: the search is for that.
 */
#include "heap/glibc_heap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

#define FIND_BUFFER 65536
#define FIND_CANDIDATES 64 /* that are looked at; programs have one */
#define FIND_BYTES (256ull << 20) /* of data that are searched */
#define FIND_PAIRS (GLIBC_BINS * 16)
#define FIND_TRIES 4 /* of what the process changes meanwhile */
#define FIND_REFRESHES 4
#define FIND_BAD_MOST 4
#define FIND_GOOD_LEAST 24

struct find {
	struct image *image;
	struct heap_layout *layout;
	unsigned int candidates, refreshes;
	uint64_t searched;
	bool found, resembled;
};

static bool find_is_empty(uint64_t pair, const unsigned char *bytes)
{
	return glibc_word(bytes) == pair - 16 && glibc_word(bytes + 8) == pair - 16;
}

/* May this be a chunk in a bin? */
static bool find_is_chunk(const struct image *image, uint64_t chunk)
{
	const struct image_mapping *mapping = chunk & 15 ? NULL : image_find(image, chunk);

	return mapping && mapping->writable && !mapping->inode;
}

enum find_pair { FIND_BAD, FIND_POSSIBLE, FIND_GOOD };

/* A bin: empty, or its first chunk points back; it may have changed since it was read. */
static enum find_pair find_pair(struct image *image, uint64_t pair, const unsigned char *bytes)
{
	unsigned char again[16];
	uint64_t first = 0;
	unsigned int i;

	for (i = 0; i < FIND_TRIES; i++) {
		if (find_is_empty(pair, bytes))
			return FIND_GOOD;
		first = glibc_word(bytes);
		if (!find_is_chunk(image, first))
			return FIND_BAD;
		if (image_word(image, first + 24) == pair - 16)
			return FIND_GOOD;
		if (!image_read(image, pair, again, sizeof(again)))
			return FIND_BAD;
		bytes = again;
	}
	return find_is_chunk(image, glibc_word(bytes + 8)) ? FIND_POSSIBLE : FIND_BAD;
}

/* Are there bins in `bytes`, which were read at `bins`? Those that change all the time are possible at best. */
static bool find_has_bins(struct find *find, uint64_t bins, const unsigned char *bytes)
{
	unsigned int count[FIND_GOOD + 1] = { 0 }, i;

	for (i = 0; i < GLIBC_BINS && count[FIND_BAD] <= FIND_BAD_MOST; i++)
		count[find_pair(find->image, bins + i * 16, bytes + i * 16)]++;
	/* Chunks may be in mappings that are younger than the image's list. */
	find->resembled |= count[FIND_GOOD] >= FIND_GOOD_LEAST;
	return count[FIND_BAD] <= FIND_BAD_MOST && count[FIND_GOOD] >= FIND_GOOD_LEAST;
}

static bool find_closes(struct find *find, uint64_t arena, uint64_t bins)
{
	struct glibc_map map = { 0 };
	bool closed;

	find->layout->bins = bins;
	find->layout->main_arena = arena;
	closed = glibc_map_read(find->layout, find->image, &map);
	glibc_map_free(&map);
	return closed;
}

/* Arenas may be made meanwhile, in mappings that were not there when the search began. */
static bool find_has_chain(struct find *find, uint64_t bins)
{
	unsigned int i;

	for (i = 0; i < FIND_TRIES; i++) {
		if (find_closes(find, bins - GLIBC_BINS_OLD, GLIBC_BINS_OLD) ||
		    find_closes(find, bins - GLIBC_BINS_NEW, GLIBC_BINS_NEW))
			return true;
		if (i + 1 < FIND_TRIES && find->refreshes++ < FIND_REFRESHES)
			image_refresh(find->image);
	}
	return false;
}

/* The last of the bins may be at `pair`. */
static bool find_try(struct find *find, uint64_t pair)
{
	uint64_t bins = pair - (FIND_PAIRS - 16);
	unsigned char bytes[FIND_PAIRS];
	unsigned int i;

	if (find->candidates >= FIND_CANDIDATES || pair < FIND_PAIRS)
		return false;
	for (i = 0; i < FIND_TRIES; i++) {
		if (!image_read(find->image, bins, bytes, sizeof(bytes)))
			return false;
		find->candidates += !i;
		if (find_has_bins(find, bins, bytes))
			return find_has_chain(find, bins);
	}
	return false;
}

static bool find_in_bytes(struct find *find, uint64_t address, const unsigned char *bytes,
			  size_t size)
{
	size_t at;

	for (at = 0; at + 32 <= size; at += 8)
		if (find_is_empty(address + at, bytes + at) &&
		    !find_is_empty(address + at + 16, bytes + at + 16) &&
		    find_try(find, address + at))
			return true;
	return false;
}

static bool find_is_data(const struct image_mapping *mapping)
{
	return mapping->inode && mapping->readable && mapping->writable && !mapping->shared;
}

/* Call `look` with all that is in memory of a mapping, with 32 bytes twice where parts meet; true as soon as it is. */
static bool find_in_mapping(struct find *find, uint64_t start, uint64_t end,
			    bool (*look)(struct find *find, uint64_t address,
					 const unsigned char *bytes, size_t size))
{
	unsigned char *bytes = memory_alloc(1, FIND_BUFFER);
	uint64_t run, run_end, at;
	bool found = false;
	size_t got;

	for (at = start; !found && image_next_present(find->image, at, end, &run, &run_end);) {
		size_t size = run_end - run < FIND_BUFFER ? run_end - run : FIND_BUFFER;

		got = image_read_part(find->image, run, bytes, size);
		found = look(find, run, bytes, got);
		find->searched += got;
		at = got == FIND_BUFFER && run_end - run > got ? run + got - 32 : run + size;
		if (find->searched > FIND_BYTES)
			break;
	}
	free(bytes);
	return found;
}

static bool find_par_here(struct find *find, uint64_t address)
{
	struct glibc_par par;
	uint64_t bins, most;

	find->layout->par = address;
	glibc_par_read(find->layout, find->image, &par);
	bins = image_word(find->image, address);
	most = image_word(find->image, address + 8);
	if (par.found && bins <= 64 && most <= 1 << 26 && par.tcache_count <= UINT16_MAX &&
	    !(par.mmapped_mem & (find->image->page_size - 1)))
		return true;
	find->layout->par = 0;
	return false;
}

/* malloc_par: tcache_bins, tcache_max_bytes, tcache_count as they are unless the user has changed them. */
static bool find_par(struct find *find, uint64_t address, const unsigned char *bytes, size_t size)
{
	size_t at;

	for (at = 0; at + 24 <= size; at += 8) {
		uint64_t most = glibc_word(bytes + at + 8), count = glibc_word(bytes + at + 16);

		if (glibc_word(bytes + at) == 64 && (most == 1032 || most == 1041) &&
		    (count == 7 || count == 16) && find_par_here(find, address + at))
			return true;
	}
	return false;
}

/* The same by where the main heap begins: for those who have. */
static bool find_par_by_heap(struct find *find, uint64_t address, const unsigned char *bytes,
			     size_t size)
{
	const struct image_mapping *mapping;
	size_t at;

	for (at = 0; at + 16 <= size; at += 8) {
		uint64_t base = glibc_word(bytes + at);

		mapping = base & 15 ? NULL : image_find(find->image, base);
		if (mapping && !mapping->inode && mapping->name[0] == '[' &&
		    mapping->name[1] == 'h' && find_par_here(find, address + at + 8))
			return true;
	}
	return false;
}

static void find_par_of(struct find *find, uint64_t start, uint64_t end)
{
	if (!find_in_mapping(find, start, end, find_par))
		find_in_mapping(find, start, end, find_par_by_heap);
}

int glibc_find_arena(struct image *image, struct heap_layout *layout, struct error *reason)
{
	struct find find = { .image = image, .layout = layout };
	size_t i;

	for (i = 0; i < image->mapping_count && !find.found; i++) {
		const struct image_mapping *mapping = &image->mappings[i];
		uint64_t start = mapping->start, end = mapping->end;

		if (!find_is_data(mapping) || !find_in_mapping(&find, start, end, find_in_bytes))
			continue;
		find.found = true;
		find_par_of(&find, start, end);
	}
	if (find.found)
		return 0;
	if (find.resembled)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "what resembles glibc's main arena does not lead to its arenas");
	return -ENOENT;
}
