/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks that are free, but whose neighbours have them in use: those in the caches of threads (tcache) and in the fastbins
 * of arenas. They are in lists by their first word. The walk keeps each chunk whose first word could be such a link; afterwards the
 * lists are followed from their heads through what was kept, without reading the process chunk by chunk.
 */
#include "heap/glibc_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

#define LISTS_CANDIDATES_MAX (4u << 20)
#define LISTS_CACHES_MAX 65536
#define LISTS_LARGE_BINS 12
#define LISTS_SMALL_MAX 1040 /* the largest chunk of the small bins */
#define LISTS_READS 65536 /* of single chunks */
#define LISTS_CODED 32 /* since glibc 2.32 links are mixed with their addresses */
#define LISTS_TRIES 8 /* how often a list is followed that changes meanwhile */

/* The chunks of tcache_perthread_struct: counts of a byte, counts, and numbers of free slots with 12 more bins. */
enum lists_cache { LISTS_2_27 = 0x250, LISTS_2_30 = 0x290, LISTS_2_42 = 0x300 };

static unsigned int lists_bins(uint64_t cache_size)
{
	return GLIBC_SMALL_BINS + (cache_size == LISTS_2_42 ? LISTS_LARGE_BINS : 0);
}

static unsigned int lists_counts_size(uint64_t cache_size)
{
	return lists_bins(cache_size) * (cache_size == LISTS_2_27 ? 1 : 2);
}

uint64_t glibc_lists_cache(uint64_t size)
{
	static const uint64_t sizes[] = { LISTS_2_27, LISTS_2_30, LISTS_2_42 };
	int i;

	/* A chunk may be 16 bytes larger than it need be; since 2.43, where it is aligned, 32. */
	for (i = 0; i < 3; i++)
		if (size == sizes[i] || size == sizes[i] + 16 ||
		    (sizes[i] == LISTS_2_42 && size == sizes[i] + 32))
			return sizes[i];
	return 0;
}

static unsigned int lists_count(uint64_t cache_size, const unsigned char *block, unsigned int bin)
{
	uint16_t count;

	if (cache_size == LISTS_2_27)
		return block[bin];
	memcpy(&count, block + bin * 2, 2);
	return count;
}

static uint64_t lists_entry(uint64_t cache_size, const unsigned char *block, unsigned int bin)
{
	return glibc_word(block + lists_counts_size(cache_size) + bin * 8);
}

/* May a chunk be at this address? */
static bool lists_is_chunk(const struct glibc_walk *walk, uint64_t chunk)
{
	const struct glibc_heap *heap = walk->heap;

	if (chunk & 15 || chunk < walk->low || chunk >= walk->high)
		return false;
	return (heap && chunk >= heap->start && chunk < heap->end) ||
	       glibc_map_heap(walk->map, chunk);
}

/* Is this in memory that a heap of an arena has had since it was listed? */
static bool lists_is_newer(const struct glibc_walk *walk, uint64_t chunk)
{
	uint64_t first = chunk & ~(GLIBC_HEAP_MAX - 1);
	const struct glibc_heap *heap = glibc_map_heap(walk->map, first + GLIBC_FIRST_CHUNKS);

	return !(chunk & 15) && heap && heap->arena && heap->mapped == first && chunk >= heap->end;
}

/*
 * Do counts and entries agree? Returns how many lists are not empty, or -1. `most`: what a list may have, 0 = not known.
 */
static int lists_shape(const struct glibc_walk *walk, uint64_t size, const unsigned char *block)
{
	uint64_t most = walk->par.found ? walk->par.tcache_count : 0;
	int filled = 0;
	unsigned int i;

	for (i = 0; i < lists_bins(size); i++) {
		unsigned int count = lists_count(size, block, i);
		uint64_t entry = lists_entry(size, block, i);

		if (entry && !lists_is_chunk(walk, entry - GLIBC_HEADER) &&
		    !lists_is_newer(walk, entry - GLIBC_HEADER))
			return -1;
		if (size != LISTS_2_42 && !entry != !count)
			return -1;
		if (most && count > most && size != LISTS_2_42)
			return -1;
		filled += entry != 0;
	}
	return filled;
}

static int lists_compare(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static bool lists_is_known(const struct glibc_walk *walk, uint64_t block)
{
	const struct heap_layout *layout = walk->layout;

	return layout->tcache_count &&
	       bsearch(&block, layout->tcaches, layout->tcache_count, sizeof(block), lists_compare);
}

bool glibc_lists_take_cache(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
			    const unsigned char *block, size_t length)
{
	uint64_t cache = glibc_lists_cache(size);
	bool known;
	int filled;

	if (!cache || (walk->cache_chunk && cache != walk->cache_chunk) || length < cache ||
	    walk->cache_count >= LISTS_CACHES_MAX)
		return false;
	filled = lists_shape(walk, cache, block);
	known = lists_is_known(walk, chunk + GLIBC_HEADER);
	walk->caches_odd += known && filled < 0;
	walk->caches_known += known && filled >= 0;
	/* One that is empty looks like any block of zeroes. The first chunk of a heap is one. */
	if (filled < 0 || (!filled && !known && chunk != walk->heap->start))
		return false;
	walk->cache_chunk = cache;
	walk->caches = memory_grow(walk->caches, walk->cache_count, &walk->cache_capacity,
				   sizeof(*walk->caches));
	walk->caches[walk->cache_count++] = chunk + GLIBC_HEADER;
	return true;
}

/* A link as it is stored: plain to glibc 2.31, then mixed with its own address. */
static uint64_t lists_decode(uint64_t word, uint64_t address)
{
	return word ^ address >> 12;
}

static bool lists_may_link(const struct glibc_walk *walk, uint64_t word)
{
	return !word || lists_is_chunk(walk, word);
}

/* Is this the link of a chunk whose block is at `address`? */
static bool lists_links(const struct glibc_walk *walk, uint64_t word, uint64_t address)
{
	return (!walk->plain && lists_may_link(walk, lists_decode(word, address))) ||
	       (!walk->coded && lists_may_link(walk, word));
}

bool glibc_lists_take(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		      const unsigned char *block)
{
	uint64_t word;

	/* Chunks of 2.42 and later are cached to 4 MB. */
	if (size > LISTS_SMALL_MAX && walk->cache_chunk != LISTS_2_42)
		return false;
	word = glibc_word(block);
	if (!lists_links(walk, word, chunk + GLIBC_HEADER))
		return false;
	if (walk->candidate_count >= LISTS_CANDIDATES_MAX) {
		walk->candidates_lost++;
		return false;
	}
	walk->candidates = memory_grow(walk->candidates, walk->candidate_count,
				       &walk->candidate_capacity, sizeof(*walk->candidates));
	walk->candidates[walk->candidate_count++] =
		(struct glibc_candidate){ .chunk = chunk, .word = word, .size = size };
	return true;
}

/* What the first block of a list shows of how links are stored. */
static void lists_learn(struct glibc_walk *walk, uint64_t block)
{
	uint64_t word;
	bool coded, plain;

	if (!block || walk->coded || walk->plain ||
	    !image_read(walk->image, block, &word, sizeof(word)))
		return;
	coded = lists_may_link(walk, lists_decode(word, block));
	plain = lists_may_link(walk, word);
	walk->coded = coded && !plain;
	walk->plain = plain && !coded;
}

static void lists_learn_from_cache(struct glibc_walk *walk, uint64_t block)
{
	unsigned char bytes[LISTS_2_42];
	uint64_t size = glibc_lists_cache(glibc_size(image_word(walk->image, block - 8)));
	unsigned int i;

	if (!size || !image_read(walk->image, block, bytes, size - 8) ||
	    lists_shape(walk, size, bytes) < 0)
		return;
	for (i = 0; i < lists_bins(size); i++)
		lists_learn(walk, lists_entry(size, bytes, i));
}

/*
 * The file of the C library by its name: 2.34 and later are called libc.so.6, others have their release in the name. For where no list has a
 * chunk yet: any that comes meanwhile is followed, and another name makes nothing wrong but what is done for it.
 */
static void lists_learn_from_name(struct glibc_walk *walk)
{
	const char *name;
	int release;
	size_t i;

	for (i = 0; i < walk->image->mapping_count && !walk->coded && !walk->plain; i++) {
		name = strrchr(walk->image->mappings[i].name, '/');
		if (!name)
			continue;
		if (!strcmp(name, "/libc.so.6"))
			walk->coded = true;
		else if (sscanf(name, "/libc-2.%2d.so", &release) == 1)
			*(release < LISTS_CODED ? &walk->plain : &walk->coded) = true;
	}
}

void glibc_lists_begin(struct glibc_walk *walk)
{
	const struct glibc_map *map = walk->map;
	size_t i, k;

	if (walk->layout->bins == GLIBC_BINS_NEW)
		walk->coded = true;
	for (i = 0; i < walk->layout->tcache_count && i < 64; i++)
		lists_learn_from_cache(walk, walk->layout->tcaches[i]);
	for (i = 0; i < map->heap_count && i < 64; i++)
		lists_learn_from_cache(walk, map->heaps[i].start + GLIBC_HEADER);
	for (i = 0; i < map->arena_count && i < 64; i++)
		for (k = 0; k < GLIBC_FASTBINS; k++)
			if (map->arenas[i].fast[k])
				lists_learn(walk, map->arenas[i].fast[k] + GLIBC_HEADER);
	lists_learn_from_name(walk);
}

/* Chunks are where the target wants them: with a known hash they could all have one slot. */
static size_t lists_hash(const struct glibc_walk *walk, uint64_t chunk)
{
	return hash_secret(walk->slot_seed, chunk) & walk->slot_mask;
}

static void lists_index(struct glibc_walk *walk)
{
	size_t room = 16, i, slot;

	while (room < walk->candidate_count * 2)
		room *= 2;
	walk->slots = memory_alloc(room, sizeof(*walk->slots));
	walk->slot_mask = room - 1;
	walk->slot_seed = seed_new();
	for (i = 0; i < walk->candidate_count; i++) {
		slot = lists_hash(walk, walk->candidates[i].chunk);
		while (walk->slots[slot])
			slot = (slot + 1) & walk->slot_mask;
		walk->slots[slot] = (uint32_t)i + 1;
	}
}

static struct glibc_candidate *lists_get(struct glibc_walk *walk, uint64_t chunk)
{
	size_t slot;

	for (slot = lists_hash(walk, chunk); walk->slots[slot]; slot = (slot + 1) & walk->slot_mask)
		if (walk->candidates[walk->slots[slot] - 1].chunk == chunk)
			return &walk->candidates[walk->slots[slot] - 1];
	return NULL;
}

/* A list: `to_chunk` is what its links are behind chunks. */
struct lists_list {
	uint64_t first, to_chunk;
	uint64_t size; /* of its chunks; 0 = several */
	enum glibc_candidate_state state;
	bool again; /* it was followed before, and had changed since the walk: its links are read now */
};

/* The link of a chunk in the process, as it is now. */
static bool lists_read_link(struct glibc_walk *walk, const struct lists_list *list, uint64_t chunk,
			    uint64_t *ret_word)
{
	uint64_t words[2];

	if (walk->list_reads >= LISTS_READS || !lists_is_chunk(walk, chunk))
		return false;
	walk->list_reads++;
	if (!image_read(walk->image, chunk + 8, words, sizeof(words)) ||
	    (list->size && glibc_size(words[0]) != list->size))
		return false;
	*ret_word = words[1];
	return true;
}

/* The link of a chunk that is in a list; false where there is no such chunk. */
static bool lists_link(struct glibc_walk *walk, const struct lists_list *list, uint64_t chunk,
		       uint64_t *ret_word)
{
	struct glibc_candidate *candidate = lists_get(walk, chunk);

	/* Without one, it was in use when the walk came by; those behind it may have been free. */
	if (!candidate)
		return lists_read_link(walk, list, chunk, ret_word);
	if ((candidate->state != GLIBC_LIVE && (!list->again || candidate->state != list->state)) ||
	    (list->size && candidate->size != list->size))
		return false;
	candidate->state = list->state;
	*ret_word = candidate->word;
	return !list->again || lists_read_link(walk, list, chunk, ret_word);
}

/* Mark the chunks of the list; false if it was not followed to its end. */
static bool lists_follow(struct glibc_walk *walk, const struct lists_list *list,
			 uint64_t *ret_count)
{
	uint64_t at = list->first, word, chunk;

	for (*ret_count = 0; at; ++*ret_count) {
		chunk = at - list->to_chunk;
		if (!lists_link(walk, list, chunk, &word))
			return false;
		at = lists_decode(word, chunk + GLIBC_HEADER);
		if (walk->plain || (!walk->coded && !lists_may_link(walk, at)))
			at = word;
	}
	return true;
}

/* A list could not be followed to its end: those behind are known by their looks at best. */
static void lists_break(struct glibc_walk *walk, const struct lists_list *list)
{
	walk->lists_differ++;
	if (walk->coded && list->size)
		walk->broken[(list->size - GLIBC_CHUNK_MIN) / 16] = list->state;
	else
		walk->lists_unknown++;
}

/* Does a bin of a thread's cache have as many chunks as the thread counts? */
static bool lists_counts(const struct glibc_walk *walk, const unsigned char *bytes,
			 unsigned int bin, uint64_t found)
{
	uint64_t count = lists_count(walk->cache_chunk, bytes, bin);

	if (walk->cache_chunk != LISTS_2_42)
		return found == count;
	/* Free slots are counted; bins that are not used have none. */
	return !found || !walk->par.found || found == walk->par.tcache_count - count;
}

/* A bin of the cache at `block`, whose `bytes` were read. Returns how many chunks it has. */
static uint64_t lists_follow_bin(struct glibc_walk *walk, uint64_t block, unsigned char *bytes,
				 unsigned int bin)
{
	struct lists_list list = { .to_chunk = GLIBC_HEADER,
				   .size = bin < GLIBC_SMALL_BINS ? 32 + bin * 16ull : 0,
				   .state = GLIBC_CACHED };
	uint64_t found = 0, most = 0;
	unsigned int tries;

	for (tries = 0; tries < LISTS_TRIES; tries++) {
		if (tries && !image_read(walk->image, block, bytes, walk->cache_chunk - 8))
			break;
		list.first = lists_entry(walk->cache_chunk, bytes, bin);
		list.again = tries;
		if (lists_follow(walk, &list, &found) && lists_counts(walk, bytes, bin, found)) {
			walk->lists_changed += tries > 0;
			return found;
		}
		most = found > most ? found : most;
	}
	lists_break(walk, &list);
	return most;
}

/* The lists of a thread's cache; false if it is none after all. */
static bool lists_end_cache(struct glibc_walk *walk, uint64_t block)
{
	const struct glibc_walk before = *walk;
	unsigned char bytes[LISTS_2_42];
	uint64_t all = 0;
	unsigned int i;
	int filled;

	if (!image_read(walk->image, block, bytes, walk->cache_chunk - 8))
		return false;
	filled = lists_shape(walk, walk->cache_chunk, bytes);
	for (i = 0; i < lists_bins(walk->cache_chunk) && filled > 0; i++)
		all += lists_follow_bin(walk, block, bytes, i);
	if (all || filled <= 0)
		return all || !filled;
	/* What is no cache has no lists whose chunks could be anywhere. */
	memcpy(walk->broken, before.broken, sizeof(walk->broken));
	walk->lists_unknown = before.lists_unknown;
	return false;
}

static void lists_end_caches(struct glibc_walk *walk)
{
	size_t i, kept = 0;
	uint64_t size;

	for (i = 0; i < walk->cache_count; i++) {
		if (lists_end_cache(walk, walk->caches[i])) {
			walk->caches[kept++] = walk->caches[i];
			continue;
		}
		size = glibc_size(image_word(walk->image, walk->caches[i] - 8));
		if (glibc_lists_cache(size) != walk->cache_chunk)
			continue;
		walk->totals->overhead_bytes -= size;
		glibc_blocks_live(walk, walk->caches[i] - GLIBC_HEADER, size, NULL, 0);
	}
	walk->cache_count = kept;
}

static void lists_follow_fastbin(struct glibc_walk *walk, size_t arena, size_t bin)
{
	struct lists_list list = { .size = GLIBC_CHUNK_MIN + bin * 16, .state = GLIBC_FAST };
	struct glibc_arena now = walk->map->arenas[arena];
	unsigned int tries;
	uint64_t count;

	for (tries = 0; tries < LISTS_TRIES; tries++) {
		if (!glibc_arena_read(walk->layout, walk->image, &now))
			break;
		list.first = now.fast[bin];
		list.again = tries;
		if (lists_follow(walk, &list, &count)) {
			walk->lists_changed += tries > 0;
			return;
		}
	}
	lists_break(walk, &list);
}

static void lists_end_fastbins(struct glibc_walk *walk)
{
	size_t i, k;

	for (i = 0; i < walk->map->arena_count; i++)
		for (k = 0; k < GLIBC_FASTBINS; k++)
			lists_follow_fastbin(walk, i, k);
}

static void lists_count_free(struct glibc_walk *walk, const struct glibc_candidate *candidate)
{
	uint64_t resident = glibc_blocks_resident(walk, candidate->chunk, candidate->size);

	walk->totals->free_bytes += candidate->size;
	if (candidate->state == GLIBC_FAST) {
		walk->totals->fast_resident += resident;
	} else {
		walk->totals->thread_caches_resident += resident;
		walk->totals->stuck_bytes += resident;
	}
}

/*
 * A list that changed meanwhile hides the chunks behind that place, and the last ones may stay where they are for long. With links that
 * are mixed with addresses hardly anything but such a chunk looks like one, and be it the last, whose link leads nowhere.
 */
static enum glibc_candidate_state lists_guess(const struct glibc_walk *walk,
					      const struct glibc_candidate *candidate)
{
	return candidate->size > LISTS_SMALL_MAX
		       ? GLIBC_LIVE
		       : walk->broken[(candidate->size - GLIBC_CHUNK_MIN) / 16];
}

/* It is in no list: a block in use. The sink gets its bytes, which are read again. */
static void lists_give_back(struct glibc_walk *walk, const struct glibc_candidate *candidate)
{
	const unsigned char *bytes = NULL;
	size_t length = 0, wanted = candidate->size < 4096 ? candidate->size : 4096;

	if (walk->sink && walk->sink->block)
		bytes = glibc_blocks_bytes(walk, candidate->chunk, wanted, &length);
	glibc_blocks_live(walk, candidate->chunk, candidate->size, bytes, length);
}

void glibc_lists_end(struct glibc_walk *walk)
{
	size_t i;

	lists_index(walk);
	walk->length = 0;
	lists_end_caches(walk);
	lists_end_fastbins(walk);
	for (i = 0; i < walk->candidate_count && !walk->ended; i++) {
		struct glibc_candidate *candidate = &walk->candidates[i];

		if (candidate->state == GLIBC_LIVE) {
			candidate->state = lists_guess(walk, candidate);
			walk->orphans += candidate->state != GLIBC_LIVE;
		}
		if (candidate->state == GLIBC_LIVE)
			lists_give_back(walk, candidate);
		else
			lists_count_free(walk, candidate);
	}
	free(walk->slots);
	walk->slots = NULL;
}
