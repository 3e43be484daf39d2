/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The census of glibc's malloc (2.27 and later), from outside and without symbols: see glibc_heap.h for its parts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/units.h"
#include "heap/glibc_heap.h"
#include "image/image_search.h"

#define GLIBC_TLS_MAX 65536 /* of a thread, that is searched for its cache */
#define GLIBC_TLS_DEFAULT 8192 /* where it is not known how long it is */
#define GLIBC_FIRST_BYTES 4096
#define GLIBC_GROWTH_PART 100 /* a heap that has grown by less is as good as whole */

static void glibc_free(struct heap_layout *layout)
{
	if (!layout)
		return;
	glibc_map_free(&layout->map);
	glibc_mapped_free(&layout->mapped);
	free(layout->tcaches);
	free(layout);
}

static int glibc_compare(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* A word of a thread's TLS that may lead to the thread's cache. */
struct glibc_tls_word {
	uint64_t block;
	/* From the thread's descriptor: the same in all threads, since it is a variable of the C library. */
	uint64_t distance;
};

struct glibc_tls_words {
	struct glibc_tls_word *items;
	size_t count, capacity;
	size_t threads; /* that have some */
};

static bool glibc_may_be_cache(const struct heap_layout *layout, struct image *image, uint64_t word)
{
	return !(word & 15) && glibc_map_heap(&layout->map, word) &&
	       glibc_lists_cache(glibc_size(image_word(image, word - 8)));
}

static void glibc_see_thread(const struct heap_layout *layout, struct image *image,
			     const struct thread_info *thread, unsigned char *bytes,
			     struct glibc_tls_words *words)
{
	uint64_t size = thread->tls_start ? thread->descriptor - thread->tls_start
					  : GLIBC_TLS_DEFAULT;
	uint64_t first, at, start, end;
	size_t before = words->count;

	size = (size > GLIBC_TLS_MAX ? GLIBC_TLS_MAX : size) & ~7ull;
	if (thread->descriptor < size)
		return;
	/* Not all of it was ever used. */
	first = at = thread->descriptor - size;
	memset(bytes, 0, size);
	while (image_next_present(image, at, thread->descriptor, &start, &end) && end > at) {
		image_read_part(image, start, bytes + (start - first), end - start);
		at = end;
	}
	for (at = 0; at < size; at += 8) {
		uint64_t word = glibc_word(bytes + at);

		if (!glibc_may_be_cache(layout, image, word))
			continue;
		words->items = memory_grow(words->items, words->count, &words->capacity,
					   sizeof(*words->items));
		words->items[words->count++] = (struct glibc_tls_word){ word, size - at };
	}
	words->threads += words->count > before;
}

static int glibc_compare_distance(const void *a, const void *b)
{
	const struct glibc_tls_word *left = a, *right = b;

	return compare_numbers(left->distance, right->distance);
}

/* The words at the distance that most threads have; all of them if no two threads have one. */
static void glibc_take_words(struct heap_layout *layout, struct glibc_tls_words *words)
{
	size_t i, run = 0, longest = 0, end = 0;

	if (words->count)
		qsort(words->items, words->count, sizeof(*words->items), glibc_compare_distance);
	for (i = 0; i < words->count; i++) {
		run = i && words->items[i].distance == words->items[i - 1].distance ? run + 1 : 1;
		if (run > longest) {
			longest = run;
			end = i + 1;
		}
	}
	layout->tcache_threads = longest > 1 ? longest : words->threads;
	for (i = longest > 1 ? end - longest : 0; i < (longest > 1 ? end : words->count); i++) {
		layout->tcaches = memory_grow(layout->tcaches, layout->tcache_count,
					      &layout->tcache_capacity, sizeof(*layout->tcaches));
		layout->tcaches[layout->tcache_count++] = words->items[i].block;
	}
}

static void glibc_see_threads(struct heap_layout *layout, struct image *image,
			      const struct thread_list *threads)
{
	unsigned char *bytes = memory_alloc(1, GLIBC_TLS_MAX);
	struct glibc_tls_words words = { 0 };
	size_t i;

	for (i = 0; threads && i < threads->count; i++)
		if (threads->items[i].state == THREAD_RUNS && threads->items[i].descriptor)
			glibc_see_thread(layout, image, &threads->items[i], bytes, &words);
	glibc_take_words(layout, &words);
	if (layout->tcache_count)
		qsort(layout->tcaches, layout->tcache_count, sizeof(*layout->tcaches),
		      glibc_compare);
	free(words.items);
	free(bytes);
}

static int glibc_find(struct image *image, const struct thread_list *threads,
		      struct heap_layout **ret_layout, struct error *reason)
{
	struct heap_layout *layout = memory_alloc(1, sizeof(*layout));
	int code = glibc_find_arena(image, layout, reason);
	struct glibc_par par;

	if (!code && !glibc_map_read_settled(layout, image, &layout->map))
		code = error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the arenas of glibc's malloc do not lead back to the first");
	if (!code) {
		glibc_par_read(layout, image, &par);
		glibc_mapped_find(&layout->map, image, &par, &layout->mapped);
		glibc_see_threads(layout, image, threads);
		/* Another allocator has its place. */
		if (!layout->map.heap_count && !layout->mapped.count)
			code = -ENOENT;
	}
	if (code) {
		glibc_free(layout);
		return code;
	}
	*ret_layout = layout;
	return 0;
}

static void glibc_claim(const struct heap_layout *layout, struct image *image,
			struct claims *claims)
{
	size_t i;

	(void)image;
	for (i = 0; i < layout->map.heap_count; i++) {
		const struct glibc_heap *heap = &layout->map.heaps[i];

		claims_add(claims, heap->arena ? PURPOSE_MALLOC_ARENA : PURPOSE_MALLOC_MAIN,
			   heap->mapped, heap->arena ? heap->mapped + GLIBC_HEAP_MAX : heap->end,
			   (uint32_t)heap->arena);
	}
	for (i = 0; i < layout->mapped.count; i++)
		claims_add(claims, PURPOSE_MALLOC_LARGE, layout->mapped.items[i].start,
			   layout->mapped.items[i].end, (uint32_t)i);
}

static void glibc_walk_mapped(struct glibc_walk *walk, const struct glibc_mapped *mapped,
			      unsigned char *bytes)
{
	struct heap_totals *totals = walk->totals;
	struct census_block block = {
		.address = mapped->address, .size = mapped->size, .bytes = bytes, .mapped = true
	};

	totals->live_blocks++;
	totals->mapped_blocks++;
	totals->live_bytes += block.size;
	totals->mapped_bytes += block.size;
	totals->overhead_bytes += mapped->end - mapped->start - mapped->size;
	totals->live_resident += image_search_resident(walk->image, mapped->start, mapped->end);
	if (!walk->sink || !walk->sink->block || walk->ended)
		return;
	block.length = block.size < GLIBC_FIRST_BYTES ? block.size : GLIBC_FIRST_BYTES;
	block.length = image_read_part(walk->image, block.address, bytes, block.length);
	if (!walk->sink->block(walk->sink->context, &block))
		walk->ended = true;
}

/* All memory outside of the heaps. */
static void glibc_give_rest(const struct glibc_walk *walk)
{
	const struct glibc_map *map = walk->map;
	uint64_t start = 0;
	size_t i;

	for (i = 0; i < map->heap_count; i++) {
		census_sink_unknown(walk->sink, start, map->heaps[i].mapped);
		start = map->heaps[i].end;
	}
	census_sink_unknown(walk->sink, start, UINT64_MAX);
}

static bool glibc_mapped_differ(const struct glibc_par *par, const struct glibc_mapped_list *list)
{
	return par->found && (list->count != par->n_mmaps || list->bytes != par->mmapped_mem);
}

/* Find them. True: they are not as many as malloc counts, but between what it counted before and after they were listed. */
static bool glibc_find_all_mapped(struct glibc_walk *walk, struct glibc_mapped_list *list)
{
	struct glibc_par *par = &walk->par, before;

	glibc_par_read(walk->layout, walk->image, par);
	glibc_mapped_find_again(walk->map, walk->image, par, &walk->layout->mapped, list);
	if (!glibc_mapped_differ(par, list))
		return false;
	/* The mappings are older than the numbers. */
	before = *par;
	if (!image_refresh(walk->image))
		return false;
	glibc_mapped_free(list);
	glibc_par_read(walk->layout, walk->image, par);
	if (glibc_mapped_find_grown(walk->map, walk->image, &before, par, list))
		return glibc_mapped_differ(par, list);
	glibc_mapped_find(walk->map, walk->image, par, list);
	return false;
}

static void glibc_remark_mapped(struct glibc_walk *walk, const struct glibc_mapped_list *list)
{
	char texts[2][UNITS_TEXT_MAX];

	if (!walk->par.found)
		buffer_printf(&walk->totals->remarks,
			      "how many blocks have mappings of their own is not known\n");
	else
		buffer_printf(
			&walk->totals->remarks,
			"found with mappings of their own: %zu block%s of %s; malloc counts %u "
			"of %s\n",
			list->count, units_s(list->count), units_format_size(list->bytes, texts[0]),
			walk->par.n_mmaps, units_format_size(walk->par.mmapped_mem, texts[1]));
}

/* The chunks with mappings, and whether they are as many as malloc has counted. */
static void glibc_walk_all_mapped(struct glibc_walk *walk)
{
	struct glibc_mapped_list list = { 0 };
	unsigned char bytes[GLIBC_FIRST_BYTES];
	bool grew = glibc_find_all_mapped(walk, &list);
	size_t i;

	for (i = 0; i < list.count; i++)
		glibc_walk_mapped(walk, &list.items[i], bytes);
	if (!walk->par.found || glibc_mapped_differ(&walk->par, &list)) {
		glibc_give_rest(walk);
		if (!grew)
			glibc_remark_mapped(walk, &list);
	}
	walk->grew |= grew;
	walk->mapped_bytes = list.bytes;
	glibc_mapped_free(&list);
}

/* The arena of the same address, or NULL. */
static const struct glibc_arena *glibc_find_same(const struct glibc_map *map,
						 const struct glibc_arena *arena)
{
	size_t i;

	for (i = 0; i < map->arena_count; i++)
		if (map->arenas[i].address == arena->address)
			return &map->arenas[i];
	return NULL;
}

static bool glibc_is_whole(const struct glibc_arena *arena)
{
	return arena->heap_bytes == arena->system_mem && !arena->late_end;
}

/*
 * Has all of an arena's memory been found, but for what it has grown by? What was read while it changed is right when it is read
 * again (`now`); what was newer than the list of mappings must be in a later one.
 */
static bool glibc_is_found(const struct glibc_arena *before, const struct glibc_map *now)
{
	const struct glibc_arena *again = glibc_find_same(now, before);

	if (before->late_end)
		return before->late_end <= now->brk_end;
	return before->heap_bytes && again && glibc_is_whole(again);
}

/* Growth of the arenas since they were walked, beyond the end of the walk. */
static void glibc_remark_growth(struct glibc_walk *walk, const struct glibc_map *now)
{
	uint64_t before = walk->mapped_bytes, after = walk->par.mmapped_mem;
	char texts[2][UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < walk->map->arena_count; i++)
		before += walk->map->arenas[i].system_mem;
	if (walk->map->arenas[0].late_end)
		before -= walk->map->arenas[0].late_end - walk->map->brk_end;
	for (i = 0; i < now->arena_count; i++)
		after += now->arenas[i].system_mem;
	if (walk->grew && after > before && after - before > before / GLIBC_GROWTH_PART)
		buffer_printf(&walk->totals->remarks,
			      "the heap has grown from %s to %s while it was walked: what is new "
			      "is not in these figures\n",
			      units_format_size(before, texts[0]),
			      units_format_size(after, texts[1]));
}

/* All of an arena's memory should have been found; it may have grown since. */
static void glibc_check_arenas(struct glibc_walk *walk)
{
	uint64_t different = 0, missing = 0;
	struct glibc_map now = { 0 };
	bool changed = walk->grew;
	char size[UNITS_TEXT_MAX];
	size_t i;

	walk->grew |= walk->map->late;
	for (i = 0; i < walk->map->arena_count; i++)
		changed |= !glibc_is_whole(&walk->map->arenas[i]);
	if (!changed)
		return;
	if (image_refresh(walk->image))
		glibc_map_read_settled(walk->layout, walk->image, &now);
	for (i = 0; i < walk->map->arena_count; i++) {
		const struct glibc_arena *before = &walk->map->arenas[i];

		if (glibc_is_whole(before) || glibc_is_found(before, &now))
			continue;
		different++;
		if (before->late_end)
			missing += before->late_end - walk->map->brk_end;
		else if (before->system_mem > before->heap_bytes)
			missing += before->system_mem - before->heap_bytes;
	}
	if (different)
		buffer_printf(
			&walk->totals->remarks,
			"arenas of another size than malloc counts: %llu of %zu; %s not found\n",
			(unsigned long long)different, walk->map->arena_count,
			units_format_size(missing, size));
	glibc_remark_growth(walk, &now);
	walk->totals->unknown_bytes += missing;
	if (missing || walk->grew)
		glibc_give_rest(walk);
	glibc_map_free(&now);
}

static void glibc_check_lists(struct glibc_walk *walk)
{
	struct heap_totals *totals = walk->totals;
	uint64_t odd = walk->caches_odd;
	char size[UNITS_TEXT_MAX];

	/* Threads that have another cache, whose lists do make sense, have pointed to some other block. */
	if (walk->caches_known >= walk->layout->tcache_threads)
		odd = 0;
	if (walk->map->cyclic)
		buffer_append_string(&totals->remarks, "heaps of arenas lead back to each other\n");
	if (odd)
		buffer_printf(
			&totals->remarks,
			"the lists in the caches of %llu thread%s make no sense: their blocks "
			"count as in use\n",
			(unsigned long long)odd, units_s(odd));
	if (walk->lists_differ)
		buffer_printf(&totals->remarks,
			      "%llu list%s of free blocks %s: which of their blocks are "
			      "free is an estimate (%llu block%s)\n",
			      (unsigned long long)walk->lists_differ, units_s(walk->lists_differ),
			      image_is_over(walk->image) ? "could not be followed in time"
							 : "changed meanwhile",
			      (unsigned long long)walk->orphans, units_s(walk->orphans));
	if (walk->lists_changed)
		buffer_printf(
			&totals->remarks,
			"%llu list%s of free blocks changed meanwhile, and followed again: what is "
			"in use is an estimate\n",
			(unsigned long long)walk->lists_changed, units_s(walk->lists_changed));
	totals->counts_only = walk->orphans || walk->candidates_lost || walk->lists_unknown;
	if (walk->candidates_lost)
		buffer_printf(
			&totals->remarks,
			"counted as in use, but may be free: %llu block%s; there are too many\n",
			(unsigned long long)walk->candidates_lost, units_s(walk->candidates_lost));
	if (totals->unknown_bytes && totals->resyncs)
		buffer_printf(&totals->remarks, "%s of the heap not understood, at %llu place%s\n",
			      units_format_size(totals->unknown_bytes, size),
			      (unsigned long long)totals->resyncs, units_s(totals->resyncs));
	else if (totals->unknown_bytes)
		buffer_printf(&totals->remarks, "%s of the heap not understood\n",
			      units_format_size(totals->unknown_bytes, size));
}

static const char *glibc_version(const struct glibc_walk *walk)
{
	if (walk->layout->bins == GLIBC_BINS_NEW)
		return "2.43, 2.44";
	if (walk->cache_chunk == 0x300)
		return "2.42";
	if (walk->par.has_thp)
		return "2.35 to 2.41";
	if (walk->cache_chunk == 0x290 && walk->plain)
		return "2.30, 2.31";
	/* What 2.35 has added is where it was not found. */
	if (walk->cache_chunk == 0x290 && !walk->par.found)
		return walk->coded ? "2.32 to 2.41" : "2.30 to 2.41";
	if (walk->cache_chunk == 0x290)
		return walk->coded ? "2.32 to 2.34" : "2.30 to 2.34";
	return walk->cache_chunk == 0x250 ? "2.27 to 2.29" : "";
}

/* Bytes to read ahead: no more than the largest heap has. */
static size_t glibc_room(const struct glibc_map *map)
{
	size_t room = GLIBC_WALK_BUFFER_MIN, i;

	for (i = 0; i < map->heap_count && room < GLIBC_WALK_BUFFER; i++)
		if (map->heaps[i].end - map->heaps[i].start > room)
			room = map->heaps[i].end - map->heaps[i].start;
	return room < GLIBC_WALK_BUFFER ? room : GLIBC_WALK_BUFFER;
}

static void glibc_begin(struct glibc_walk *walk)
{
	const struct glibc_map *map = walk->map;
	size_t i;

	walk->totals->allocator = "glibc";
	walk->totals->arenas = map->arena_count;
	if (map->heap_count) {
		walk->low = map->heaps[0].mapped;
		walk->high = map->heaps[map->heap_count - 1].end;
	}
	for (i = 0; i < map->heap_count; i++)
		if (map->heaps[i].arena)
			walk->totals->overhead_bytes += map->heaps[i].start - map->heaps[i].mapped;
	glibc_par_read(walk->layout, walk->image, &walk->par);
	walk->room = glibc_room(map);
	walk->bytes = memory_alloc(1, walk->room);
	glibc_lists_begin(walk);
}

static void glibc_end(struct glibc_walk *walk)
{
	free(walk->bytes);
	free(walk->candidates);
	free(walk->pieces);
	free(walk->caches);
	glibc_map_free(walk->map);
}

static int glibc_walk(const struct heap_layout *layout, struct image *image,
		      const struct census_sink *sink, struct heap_totals *ret_totals)
{
	struct glibc_map map = { 0 };
	struct glibc_walk walk = {
		.image = image, .layout = layout, .map = &map, .sink = sink, .totals = ret_totals
	};
	size_t i;

	if (!glibc_map_read_settled(layout, image, &map))
		return -EIO;
	glibc_begin(&walk);
	for (i = 0; i < map.heap_count && !walk.ended; i++)
		glibc_walk_heap(&walk, &map.heaps[i]);
	glibc_lists_end(&walk);
	glibc_trim_end(&walk);
	glibc_walk_all_mapped(&walk);
	glibc_check_arenas(&walk);
	glibc_check_lists(&walk);
	ret_totals->threads = walk.cache_count;
	snprintf(ret_totals->version, sizeof(ret_totals->version), "%s", glibc_version(&walk));
	glibc_end(&walk);
	return 0;
}

const struct heap_allocator heap_glibc = {
	.name = "glibc",
	.find = glibc_find,
	.claim = glibc_claim,
	.walk = glibc_walk,
	.free = glibc_free,
};
