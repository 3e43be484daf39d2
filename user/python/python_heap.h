/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's heap in a process: release, pools and arenas. Found by the structure of pools and
 * types; symbols only speed this up.
 */
#ifndef PYTHON_PYTHON_HEAP_H
#define PYTHON_PYTHON_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"
#include "python/python_blocks.h"
#include "python/python_release.h"
#include "python/python_pool.h"
#include "python/python_type.h"

/* A pool. */
struct python_place {
	uint64_t address;
	uint32_t arena;
	uint32_t block_size;
};

struct python_arena {
	uint64_t start, end; /* from its first pool to its last one */
	uint64_t used_bytes; /* bytes of blocks in use at the last look */
	uint32_t first_pool, pool_count;
};

struct python_heap {
	struct image *image;
	const struct python_release *offsets;
	char version[16]; /* "3.11.2", or "3.11" */
	uint64_t runtime; /* _PyRuntime; 0 = not found */
	struct python_types types;
	struct python_place *pools;
	size_t pool_count, pool_capacity;
	struct python_arena *arenas;
	size_t arena_count, arena_capacity;
	size_t last_arena; /* where the last search ended */
	uint64_t blocks, free_blocks; /* of all pools, by their headers */
	struct python_blocks large; /* malloc blocks that the caller has added */
};

/*
 * Find the interpreter and its pools. Returns 0; -ENOENT: there is none; -ENOTSUP: there is one,
 * but it cannot be examined: `reason` has a sentence. Free with python_heap_free.
 */
int python_heap_find(struct image *image, struct python_heap **ret_heap, struct error *reason);
/* The same without the pools. */
int python_heap_open(struct image *image, struct python_heap **ret_heap, struct error *reason);
void python_heap_free(struct python_heap *heap);

/* Find the pools in the present image. */
void python_heap_find_pools(struct python_heap *heap);

/*
 * Read one pool, with retries while it changes. PYTHON_POOL_NONE: not fully resident;
 * PYTHON_POOL_TORN: it changed each time. Never-written pages count as read.
 */
enum python_pool_state python_heap_read_pool(struct python_heap *heap, uint64_t address,
					     unsigned char bytes[PYTHON_POOL_MAX],
					     struct python_pool *ret_pool,
					     unsigned char ret_free[PYTHON_BLOCKS_MAX]);

/* The size of the pool block containing an address; 0 = in no pool. */
uint32_t python_heap_block_size(const struct python_heap *heap, uint64_t address);
/* The same for blocks of pools and of malloc; 0 = no known block. */
uint64_t python_heap_room(const struct python_heap *heap, uint64_t address);

#endif
