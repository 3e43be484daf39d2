/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two allocators in place of those of user/heap/. A test sets what each search and walk does:
 * fake_finds[1][0] is the code of the first search of the second one, fake_walks[1][0] that of its
 * first walk. A walk that fails passes nothing.
 */
#ifndef TESTS_FAKE_ALLOCATORS_H
#define TESTS_FAKE_ALLOCATORS_H

#include <string.h>

#include "heap/census.h"

#define FAKE_ALLOCATORS 2
#define FAKE_CALLS 32

/* A heap with one block; all of it is unknown to `vague` walks. */
struct fake_heap {
	uint64_t start, end;
	uint64_t block, size;
	bool vague[FAKE_CALLS];
};

static struct fake_heap fake_heaps[FAKE_ALLOCATORS];
static int fake_finds[FAKE_ALLOCATORS][FAKE_CALLS], fake_walks[FAKE_ALLOCATORS][FAKE_CALLS];
static size_t fake_found[FAKE_ALLOCATORS], fake_walked[FAKE_ALLOCATORS];
static size_t fake_open; /* layouts that are not freed */

static int fake_find(size_t which, struct heap_layout **ret_layout, struct error *reason)
{
	int code = fake_finds[which][fake_found[which]++];

	if (code && code != -ENOENT)
		return error_set(reason, ERROR_TARGET, code, "it changes");
	if (!code)
		fake_open++;
	*ret_layout = NULL;
	return code;
}

static int fake_walk(size_t which, const struct census_sink *sink, struct heap_totals *ret_totals)
{
	const struct fake_heap *heap = &fake_heaps[which];
	const struct census_block block = { .address = heap->block, .size = heap->size };
	size_t call = fake_walked[which]++;

	if (fake_walks[which][call])
		return fake_walks[which][call];
	if (heap->vague[call])
		census_sink_unknown(sink, heap->start, heap->end);
	if (sink->block)
		sink->block(sink->context, &block);
	ret_totals->live_blocks++;
	ret_totals->live_bytes += heap->size;
	return 0;
}

static void fake_free(struct heap_layout *layout)
{
	(void)layout;
	fake_open--;
}

#define FAKE_ALLOCATOR(which, text)                                                             \
	static int find_##which(struct image *image, const struct thread_list *threads,         \
				struct heap_layout **ret_layout, struct error *reason)          \
	{                                                                                       \
		(void)image;                                                                    \
		(void)threads;                                                                  \
		return fake_find(which, ret_layout, reason);                                    \
	}                                                                                       \
	static void claim_##which(const struct heap_layout *layout, struct image *image,        \
				  struct claims *claims)                                        \
	{                                                                                       \
		(void)layout;                                                                   \
		(void)image;                                                                    \
		claims_add(claims, PURPOSE_MALLOC_ARENA, fake_heaps[which].start,               \
			   fake_heaps[which].end, 0);                                           \
	}                                                                                       \
	static int walk_##which(const struct heap_layout *layout, struct image *image,          \
				const struct census_sink *sink, struct heap_totals *ret_totals) \
	{                                                                                       \
		(void)layout;                                                                   \
		(void)image;                                                                    \
		return fake_walk(which, sink, ret_totals);                                      \
	}                                                                                       \
	static const struct heap_allocator allocator_##which = { .name = text,                  \
								 .find = find_##which,          \
								 .claim = claim_##which,        \
								 .walk = walk_##which,          \
								 .free = fake_free };

FAKE_ALLOCATOR(0, "first")
FAKE_ALLOCATOR(1, "second")

const struct heap_allocator *const census_allocators[] = { &allocator_0, &allocator_1, NULL };

/* Both are found and walked whenever that is tried. */
static inline void fake_allocators_reset(void)
{
	memset(fake_heaps, 0, sizeof(fake_heaps));
	memset(fake_finds, 0, sizeof(fake_finds));
	memset(fake_walks, 0, sizeof(fake_walks));
	memset(fake_found, 0, sizeof(fake_found));
	memset(fake_walked, 0, sizeof(fake_walked));
	fake_open = 0;
}

#endif
