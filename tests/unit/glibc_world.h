/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with glibc's malloc that a test makes up, chunk by chunk, as glibc's sources describe it:
 *
 *	struct glibc_world *world = glibc_world_new(GLIBC_WORLD_2_36);
 *	glibc_world_chunk(world, 48, WORLD_LIVE);	in the main heap, one behind the other
 *	glibc_world_second(world);			from now on in a second arena
 *	glibc_world_mapped(world, 0x21000);		a chunk with a mapping of its own
 *	glibc_world_end(world);				lists, tops and totals; then world->fake is ready
 */
#ifndef TESTS_GLIBC_WORLD_H
#define TESTS_GLIBC_WORLD_H

#include "fake_image.h"

#define WORLD_DATA 0x7f0000100000ull /* of libc, writable */
#define WORLD_DATA_SIZE 0x3000ull
#define WORLD_ARENA (WORLD_DATA + 0xc60)
#define WORLD_PAR (WORLD_DATA + 0x1800) /* of tcache_bins */
#define WORLD_HEAP 0x555500000000ull
#define WORLD_HEAP_SIZE 0x18000ull
#define WORLD_SECOND 0x7f1000000000ull
#define WORLD_SECOND_SIZE 0x10000ull
#define WORLD_MAPPED 0x7f2000000000ull
#define WORLD_TLS \
	0x7f0000200000ull /* of two threads: their caches are 0x100 below the descriptors */

enum glibc_world_release {
	GLIBC_WORLD_2_28,
	GLIBC_WORLD_2_31,
	GLIBC_WORLD_2_36,
	GLIBC_WORLD_2_42,
	GLIBC_WORLD_2_43,
	GLIBC_WORLD_RELEASES
};

enum glibc_world_kind { WORLD_LIVE, WORLD_FREE, WORLD_CACHED, WORLD_FAST, WORLD_CACHE };

struct glibc_world {
	struct fake_image *fake;
	enum glibc_world_release release;
	uint64_t bins, arena[2]; /* arenas */
	uint64_t at, end, flags; /* where the next chunk comes; of the heap that is filled */
	uint64_t first_free[2], cache[2], top[2];
	uint64_t cached[2][76], fast[2][10]; /* the heads of lists */
	unsigned int cached_count[2][76];
	int filled; /* 0 or 1: the arena that is filled */
	bool before_free;
	uint64_t mapped_end;
	/* The truth. */
	uint64_t live_blocks, live_bytes, free_bytes, mapped, mapped_bytes;
	uint64_t blocks[4096]; /* live ones */
};

static inline bool glibc_world_is_coded(const struct glibc_world *world)
{
	return world->release >= GLIBC_WORLD_2_36;
}

static inline uint64_t glibc_world_cache_size(const struct glibc_world *world)
{
	return world->release == GLIBC_WORLD_2_28  ? 0x250
	       : world->release < GLIBC_WORLD_2_42 ? 0x290
						   : 0x300;
}

/* What its chunk has: since 2.43 it is aligned, which may leave up to 32 bytes. */
static inline uint64_t glibc_world_cache_chunk(const struct glibc_world *world)
{
	return world->release == GLIBC_WORLD_2_43 ? 0x320 : glibc_world_cache_size(world);
}

static inline void glibc_world_put(struct glibc_world *world, uint64_t address, uint64_t word)
{
	fake_image_put_word(world->fake, address, word);
}

/* A link to `to` in the block at `address`. */
static inline void glibc_world_link(struct glibc_world *world, uint64_t address, uint64_t to)
{
	glibc_world_put(world, address, glibc_world_is_coded(world) ? to ^ address >> 12 : to);
}

static inline uint64_t glibc_world_chunk(struct glibc_world *world, uint64_t size,
					 enum glibc_world_kind kind)
{
	uint64_t chunk = world->at, *head;
	int arena = world->filled;

	glibc_world_put(world, chunk + 8, size | !world->before_free | world->flags);
	world->before_free = kind == WORLD_FREE;
	world->at += size;
	if (kind == WORLD_FREE) {
		glibc_world_put(world, world->at, size);
		if (!world->first_free[arena])
			world->first_free[arena] = chunk;
	} else if (kind == WORLD_CACHED) {
		head = &world->cached[arena][(size - 32) / 16];
		glibc_world_link(world, chunk + 16, *head);
		glibc_world_put(world, chunk + 24, 0x1122334455667788);
		*head = chunk + 16;
		world->cached_count[arena][(size - 32) / 16]++;
	} else if (kind == WORLD_FAST) {
		head = &world->fast[arena][(size - 32) / 16];
		glibc_world_link(world, chunk + 16, *head);
		*head = chunk;
	} else if (kind == WORLD_CACHE) {
		world->cache[arena] = chunk + 16;
	} else {
		fake_image_put(world->fake, chunk + 16, "a live block", 12);
		world->blocks[world->live_blocks++] = chunk + 16;
		world->live_bytes += size - 8;
	}
	if (kind == WORLD_FREE || kind == WORLD_CACHED || kind == WORLD_FAST)
		world->free_bytes += size;
	return chunk;
}

static inline struct glibc_world *glibc_world_new(enum glibc_world_release release)
{
	struct glibc_world *world = memory_alloc(1, sizeof(*world));

	world->fake = fake_image_new();
	world->release = release;
	world->bins = release == GLIBC_WORLD_2_43 ? 24 : 112;
	world->arena[0] = WORLD_ARENA;
	fake_image_map(world->fake, WORLD_DATA, WORLD_DATA_SIZE, "/lib/libc.so.6",
		       FAKE_FILE | FAKE_WRITABLE);
	fake_image_map(world->fake, WORLD_HEAP, WORLD_HEAP_SIZE, "[heap]", FAKE_WRITABLE);
	fake_image_map(world->fake, WORLD_TLS - 0x2000, 0x3000, "", FAKE_WRITABLE);
	world->at = WORLD_HEAP;
	world->end = WORLD_HEAP + WORLD_HEAP_SIZE;
	world->mapped_end = WORLD_MAPPED;
	glibc_world_chunk(world, glibc_world_cache_chunk(world), WORLD_CACHE);
	return world;
}

static inline void glibc_world_top(struct glibc_world *world)
{
	world->top[world->filled] = world->at;
	world->free_bytes += world->end - world->at;
	glibc_world_put(world, world->at + 8, (world->end - world->at) | 1);
}

static inline void glibc_world_second(struct glibc_world *world)
{
	uint64_t header = world->release < GLIBC_WORLD_2_36 ? 0x20 : 0x30;

	glibc_world_top(world);
	world->filled = 1;
	world->flags = 4;
	world->before_free = false;
	fake_image_map(world->fake, WORLD_SECOND, WORLD_SECOND_SIZE, "", FAKE_WRITABLE);
	world->arena[1] = WORLD_SECOND + header;
	glibc_world_put(world, WORLD_SECOND, world->arena[1]);
	glibc_world_put(world, WORLD_SECOND + 16, WORLD_SECOND_SIZE);
	world->at = (world->arena[1] + world->bins + 127 * 16 + 56 + 15) & ~15ull;
	world->end = WORLD_SECOND + WORLD_SECOND_SIZE;
	glibc_world_chunk(world, glibc_world_cache_chunk(world), WORLD_CACHE);
}

static inline void glibc_world_mapped(struct glibc_world *world, uint64_t size)
{
	uint64_t chunk = world->mapped_end;
	bool is_new = world->release == GLIBC_WORLD_2_43;

	fake_image_map(world->fake, chunk, size, "", FAKE_WRITABLE);
	glibc_world_put(world, chunk + 8, (is_new ? size - 16 : size) | 2);
	world->mapped_end += size;
	world->mapped++;
	world->mapped_bytes += size;
	world->blocks[world->live_blocks++] = chunk + 16;
	world->live_bytes += is_new ? size - 24 : size - 16;
}

static inline void glibc_world_put_arena(struct glibc_world *world, int arena, uint64_t system_mem)
{
	uint64_t at = world->arena[arena], bins = at + world->bins, pair;
	int i;

	for (i = 0; i < 127; i++) {
		pair = bins + i * 16;
		glibc_world_put(world, pair, pair - 16);
		glibc_world_put(world, pair + 8, pair - 16);
	}
	if (world->first_free[arena]) {
		/* The bin of what was freed last. */
		glibc_world_put(world, bins, world->first_free[arena]);
		glibc_world_put(world, bins + 8, world->first_free[arena]);
		glibc_world_put(world, world->first_free[arena] + 16, bins - 16);
		glibc_world_put(world, world->first_free[arena] + 24, bins - 16);
	}
	glibc_world_put(world, bins - 16, world->top[arena]);
	for (i = 0; i < 10 && world->bins == 112; i++)
		glibc_world_put(world, at + 16 + i * 8, world->fast[arena][i]);
	glibc_world_put(world, bins + 127 * 16 + 16, world->arena[!arena]);
	if (!world->arena[1])
		glibc_world_put(world, bins + 127 * 16 + 16, at);
	glibc_world_put(world, bins + 127 * 16 + 40, system_mem);
	glibc_world_put(world, bins + 127 * 16 + 48, system_mem);
}

static inline void glibc_world_put_cache(struct glibc_world *world, int arena)
{
	uint64_t size = glibc_world_cache_size(world), block = world->cache[arena];
	unsigned int bins = size == 0x300 ? 76 : 64, wide = size == 0x250 ? 1 : 2, i;

	glibc_world_put(world, WORLD_TLS + 0x700 + arena * 0x800, block);
	for (i = 0; i < bins && block; i++) {
		uint16_t count = (uint16_t)world->cached_count[arena][i];

		if (size == 0x300)
			count = (uint16_t)((world->release == GLIBC_WORLD_2_43 ? 16 : 7) - count);
		fake_image_put(world->fake, block + i * wide, &count, wide);
		glibc_world_put(world, block + bins * wide + i * 8, world->cached[arena][i]);
	}
}

static inline void glibc_world_put_par(struct glibc_world *world)
{
	uint32_t most = 65536, count = (uint32_t)world->mapped;
	bool has_thp = world->release >= GLIBC_WORLD_2_36,
	     is_new = world->release == GLIBC_WORLD_2_43;

	glibc_world_put(world, WORLD_PAR, 64);
	glibc_world_put(world, WORLD_PAR + 8, is_new ? 1041 : 1032);
	glibc_world_put(world, WORLD_PAR + 16, is_new ? 16 : 7);
	glibc_world_put(world, WORLD_PAR - 8, WORLD_HEAP);
	glibc_world_put(world, WORLD_PAR - 24, world->mapped_bytes);
	fake_image_put(world->fake, WORLD_PAR - (has_thp ? 40 : 36), &most, 4);
	fake_image_put(world->fake, WORLD_PAR - (has_thp ? 44 : 40), &count, 4);
}

static inline void glibc_world_end(struct glibc_world *world)
{
	glibc_world_top(world);
	glibc_world_put_par(world);
	glibc_world_put_arena(world, 0, WORLD_HEAP_SIZE);
	glibc_world_put_cache(world, 0);
	if (world->arena[1]) {
		glibc_world_put_arena(world, 1, WORLD_SECOND_SIZE);
		glibc_world_put_cache(world, 1);
	}
	fake_image_open(world->fake);
}

static inline void glibc_world_free(struct glibc_world *world)
{
	fake_image_free(world->fake);
	free(world);
}

/* A heap with all there is, in two arenas. */
static inline struct glibc_world *glibc_world_sample(enum glibc_world_release release)
{
	struct glibc_world *world = glibc_world_new(release);
	int arena, i;

	for (arena = 0; arena < 2; arena++) {
		if (arena)
			glibc_world_second(world);
		for (i = 0; i < 60; i++) {
			glibc_world_chunk(world, 32 + 16 * (i % 9), WORLD_LIVE);
			if (i % 10 == 3)
				glibc_world_chunk(world, 0x90, WORLD_FREE);
			else if (i % 10 == 5)
				glibc_world_chunk(world, 64, WORLD_CACHED);
			else if (i % 10 == 7)
				glibc_world_chunk(world, 48,
						  world->bins == 112 ? WORLD_FAST : WORLD_LIVE);
		}
		glibc_world_chunk(world, 0x5000, WORLD_LIVE);
		glibc_world_chunk(world, 0x4000, WORLD_FREE);
		glibc_world_chunk(world, 0x100, WORLD_LIVE);
	}
	glibc_world_mapped(world, 0x21000);
	glibc_world_mapped(world, 0x40000);
	glibc_world_end(world);
	return world;
}

#endif
