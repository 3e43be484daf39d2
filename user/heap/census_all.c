/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See census_all.h. */
#include "heap/census_all.h"

#include <string.h>

#include "heap/census_heaps.h"

#define FIND_TRIES 4

/* glibc's chunks are multiples of this. One that has less left over than another one takes is larger by that. */
#define CHUNK_STEP 16
#define CHUNK_LEFT 32

/* A block with a mapping of its own has whole pages, which may be huge. */
#define MAPPED_MORE (2u << 20)

static bool allocator_is_glibc(const char *allocator)
{
	return allocator && !strcmp(allocator, "glibc");
}

bool census_knows(const char *allocator)
{
	static const char *const known[] = { "glibc", "musl", "jemalloc", "tcmalloc", "mimalloc" };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(allocator, known[i]))
			return true;
	return false;
}

bool census_aligns_inside(const char *allocator)
{
	return allocator && !strcmp(allocator, "mimalloc");
}

/* Of a chunk of glibc's, 8 bytes are its own; other allocators have classes that the census knows. */
uint64_t census_usable(const char *allocator, uint64_t size)
{
	if (!allocator_is_glibc(allocator) || size > INT64_MAX)
		return size;
	return size <= 24 ? 24 : ((size + 8 + CHUNK_STEP - 1) & ~(CHUNK_STEP - 1ull)) - 8;
}

bool census_fits(const char *allocator, uint64_t size, const struct census_block *seen)
{
	uint64_t least = census_usable(allocator, size);

	if (seen->size < least)
		return false;
	if (seen->mapped)
		return seen->size - least < MAPPED_MORE;
	return !allocator_is_glibc(allocator) || seen->size - least <= CHUNK_LEFT;
}

/* A walk of one allocator's heap. */
struct all_pass {
	struct census_all *all;
	const char *allocator;
};

static bool all_see_block(void *context, const struct census_block *block)
{
	const struct all_pass *pass = context;

	pass->all->block(pass->all->context, pass->allocator, block);
	return true;
}

static void all_see_unknown(void *context, uint64_t start, uint64_t end)
{
	const struct all_pass *pass = context;

	pass->all->unknown(pass->all->context, start, end);
}

/* Returns 0, or a negative errno. */
static int all_walk(struct census_all *all, const struct census_heap *heap, struct image *image)
{
	struct all_pass pass = { all, heap->allocator->name };
	const struct census_sink sink = { .block = all->block ? all_see_block : NULL,
					  .unknown = all->unknown ? all_see_unknown : NULL,
					  .context = &pass };
	struct heap_totals totals = { 0 };
	int code = heap->allocator->walk(heap->layout, image, &sink, &totals);

	if (!code) {
		all->allocator = heap->allocator->name;
		all->by_address &= !totals.counts_only;
		all->live_blocks += totals.live_blocks;
		all->live_bytes += totals.live_bytes;
		all->unknown_bytes += totals.unknown_bytes;
	}
	heap_totals_free(&totals);
	return code;
}

bool census_all_walk(struct census_all *all, struct image *image)
{
	struct thread_list threads;
	struct census_heaps heaps;
	bool is_whole;
	size_t i;

	thread_list_find(image, &threads);
	all->by_address = true;
	is_whole = census_heaps_find(&heaps, image, &threads, FIND_TRIES);
	for (i = 0; i < heaps.count; i++) {
		if (census_heap_is_refused(&heaps.items[i]))
			all->reason = heaps.items[i].reason;
		else if (!heaps.items[i].code)
			is_whole &= !all_walk(all, &heaps.items[i], image);
	}
	census_heaps_free(&heaps);
	thread_list_free(&threads);
	return is_whole && !image_is_over(image);
}
