/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_heap.h. */
#include "python/python_heap.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/image_keep.h"
#include "image/window.h"
#include "objects/exports.h"

/* A pool that changes while it is read is read so many times. */
#define READS_MAX 5

#define TYPE_HEAD_MAX 32 /* bytes in front of a type */

/* What a read of headers reaches over: pools lie side by side, and a call costs more than what lies between two headers. */
#define HEADERS_BYTES (128u << 10)

/* The words that the runtime of 3.13 and later begins with. */
#define RUNTIME_COOKIE "xdebugpy"
#define RUNTIME_VERSION 1
#define RUNTIME_FREE_THREADED 2

/* 0x030b02f0 is 3.11.2. */
static void heap_set_version(struct python_heap *heap, uint64_t hex)
{
	if (hex >> 24 != 3)
		return;
	heap->offsets = python_release_with_objects(hex >> 16 & 0xff);
	snprintf(heap->version, sizeof(heap->version), "3.%u.%u", (unsigned int)(hex >> 16 & 0xff),
		 (unsigned int)(hex >> 8 & 0xff));
}

/* "3.11" of ".../libpython3.11.so.1.0", or of a file below ".../python3.11/". */
static void heap_see_path(struct python_heap *heap, const char *path)
{
	const char *at = strstr(path, "python3.");
	unsigned int minor;

	if (!at || sscanf(at, "python3.%3u", &minor) != 1)
		return;
	heap->offsets = python_release_with_objects(minor);
	snprintf(heap->version, sizeof(heap->version), "3.%u", minor);
}

/* By a symbol, by what the runtime begins with, by names of files. */
static void heap_find_version(struct python_heap *heap)
{
	uint64_t words[3] = { 0 }, address = exports_find(heap->image, "Py_Version");
	uint32_t hex;
	size_t i;

	if (address && image_read(heap->image, address, &hex, sizeof(hex)))
		heap_set_version(heap, hex);
	if (!heap->version[0] && image_read(heap->image, heap->runtime, words, sizeof(words)) &&
	    !memcmp(words, RUNTIME_COOKIE, 8))
		heap_set_version(heap, words[RUNTIME_VERSION]);
	for (i = 0; i < heap->image->mapping_count && !heap->version[0]; i++)
		if (heap->image->mappings[i].inode)
			heap_see_path(heap, heap->image->mappings[i].name);
}

static bool heap_is_free_threaded(struct python_heap *heap)
{
	uint64_t words[3];

	return image_read(heap->image, heap->runtime, words, sizeof(words)) &&
	       !memcmp(words, RUNTIME_COOKIE, 8) && words[RUNTIME_FREE_THREADED];
}

/* Its page may be one that the kernel is moving. */
static uint64_t heap_find_root(struct image *image)
{
	uint64_t type = exports_find(image, "PyType_Type");
	int reads;

	for (reads = 0; type && reads < READS_MAX; reads++) {
		if (python_type_is_root(image, type))
			return type;
		sched_yield();
	}
	return python_type_find_root(image);
}

static bool heap_arenas_hold(struct python_heap *heap, uint64_t address)
{
	size_t low = 0, high = heap->arena_count, middle;
	const struct python_arena *arena;

	if (heap->last_arena < heap->arena_count) {
		arena = &heap->arenas[heap->last_arena];
		if (address >= arena->start && address < arena->end)
			return true;
	}
	while (low < high) {
		middle = low + (high - low) / 2;
		arena = &heap->arenas[middle];
		if (address < arena->start) {
			high = middle;
		} else if (address >= arena->end) {
			low = middle + 1;
		} else {
			heap->last_arena = middle;
			return true;
		}
	}
	return false;
}

/* Types are not in pools, and in blocks of malloc's behind a head: what leads elsewhere there is none. */
static bool heap_excludes(void *context, uint64_t address)
{
	struct python_heap *heap = context;
	const struct python_block *block;

	if (heap_arenas_hold(heap, address))
		return true;
	block = python_blocks_find(&heap->large, address);
	return block &&
	       (block->size < PYTHON_TYPE_LEAST || address - block->address > TYPE_HEAD_MAX);
}

static struct python_arena *heap_arena(struct python_heap *heap, uint64_t address, uint32_t index)
{
	uint64_t size = heap->offsets->minor < 10 ? 256u << 10 : 1u << 20;
	struct python_arena *arena;

	if (heap->arena_count) {
		arena = &heap->arenas[heap->arena_count - 1];
		if (heap->pools[arena->first_pool].arena == index && address - arena->start < size)
			return arena;
	}
	heap->arenas = memory_grow(heap->arenas, heap->arena_count, &heap->arena_capacity,
				   sizeof(heap->arenas[0]));
	arena = &heap->arenas[heap->arena_count++];
	*arena =
		(struct python_arena){ .start = address, .first_pool = (uint32_t)heap->pool_count };
	return arena;
}

static void heap_add_pool(struct python_heap *heap, uint64_t address,
			  const struct python_pool *pool)
{
	struct python_arena *arena = heap_arena(heap, address, pool->arena);

	heap->pools = memory_grow(heap->pools, heap->pool_count, &heap->pool_capacity,
				  sizeof(heap->pools[0]));
	heap->pools[heap->pool_count++] =
		(struct python_place){ address, pool->arena, pool->block_size };
	arena->pool_count++;
	arena->used_bytes += (uint64_t)pool->used * pool->block_size;
	heap->blocks += pool->blocks;
	heap->free_blocks += pool->blocks - pool->used;
	arena->end = address + heap->offsets->pool_size;
}

/* A header, from a page that is listed, and not there for a moment where the kernel moves it. NULL = it has gone. */
static const unsigned char *heap_get_header(struct window *window, uint64_t address)
{
	const unsigned char *header = window_get(window, address, PYTHON_POOL_HEADER);
	int reads;

	for (reads = 1; !header && reads < READS_MAX; reads++) {
		sched_yield();
		header = window_get(window, address, PYTHON_POOL_HEADER);
	}
	return header;
}

static void heap_search(struct python_heap *heap, struct window *window, uint64_t start,
			uint64_t end)
{
	uint64_t size = heap->offsets->pool_size, address = (start + size - 1) & ~(size - 1);
	const unsigned char *header;
	struct python_pool pool;

	for (; address < end; address += size) {
		header = heap_get_header(window, address);
		if (header && python_pool_read_header(header, address, size, &pool))
			heap_add_pool(heap, address, &pool);
	}
}

/* Arenas are mappings of their own, or, side by side, parts of one. */
static bool heap_may_hold(const struct image_mapping *mapping)
{
	return !mapping->inode && !mapping->shared && mapping->readable && mapping->writable &&
	       strcmp(mapping->name, "[stack]") != 0 && strcmp(mapping->name, "[heap]") != 0;
}

void python_heap_find_pools(struct python_heap *heap)
{
	uint64_t start, end, at;
	struct window window;
	size_t i;

	window_open(&window, heap->image, HEADERS_BYTES);
	heap->pool_count = heap->arena_count = 0;
	heap->blocks = heap->free_blocks = 0;
	for (i = 0; i < heap->image->mapping_count; i++) {
		const struct image_mapping *mapping = &heap->image->mappings[i];

		if (!heap_may_hold(mapping))
			continue;
		at = mapping->start;
		while (image_next_present(heap->image, at, mapping->end, &start, &end)) {
			heap_search(heap, &window, start, end);
			at = end;
		}
	}
	window_close(&window);
}

static int heap_check(struct python_heap *heap, struct error *reason)
{
	if (!heap->version[0])
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the release of its Python cannot be found out");
	if (!heap->offsets)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "the objects of Python %s are not known, those of 3.9 to 3.14 are",
				 heap->version);
	if (heap_is_free_threaded(heap))
		return error_set(
			reason, ERROR_TARGET, -ENOTSUP,
			"Python %s is built without a global lock: its objects are not in pools",
			heap->version);
	return 0;
}

int python_heap_open(struct image *image, struct python_heap **ret_heap, struct error *reason)
{
	struct python_heap *heap;
	uint64_t root = heap_find_root(image);
	int code;

	if (!root)
		return -ENOENT;
	heap = memory_alloc(1, sizeof(*heap));
	heap->image = image;
	heap->runtime = exports_find(image, "_PyRuntime");
	heap_find_version(heap);
	code = heap_check(heap, reason);
	if (code) {
		python_heap_free(heap);
		return code;
	}
	heap->types.image = image;
	heap->types.offsets = heap->offsets;
	heap->types.type = root;
	heap->types.excludes = heap_excludes;
	heap->types.context = heap;
	*ret_heap = heap;
	return 0;
}

int python_heap_find(struct image *image, struct python_heap **ret_heap, struct error *reason)
{
	int code = python_heap_open(image, ret_heap, reason);

	if (!code)
		python_heap_find_pools(*ret_heap);
	return code;
}

void python_heap_free(struct python_heap *heap)
{
	if (!heap)
		return;
	python_type_free(&heap->types);
	python_blocks_free(&heap->large);
	free(heap->pools);
	free(heap->arenas);
	free(heap);
}

/*
 * Read a pool page by page: what was never written to is zero, and need not be there. False if a page is swapped out, or being moved.
 */
static bool heap_read_pages(struct image *image, uint64_t address, unsigned char *bytes,
			    uint64_t size)
{
	uint64_t at, step = image->page_size < size ? image->page_size : size;

	for (at = 0; at < size; at += step) {
		if (image_read(image, address + at, bytes + at, step))
			continue;
		if (image_page(image, address + at))
			return false;
		memset(bytes + at, 0, step);
	}
	return true;
}

enum python_pool_state python_heap_read_pool(struct python_heap *heap, uint64_t address,
					     unsigned char bytes[PYTHON_POOL_MAX],
					     struct python_pool *ret_pool,
					     unsigned char ret_free[PYTHON_BLOCKS_MAX])
{
	uint64_t size = heap->offsets->pool_size;
	enum python_pool_state state = PYTHON_POOL_TORN;
	bool is_there = false;
	int reads;

	for (reads = 0; reads < READS_MAX && state != PYTHON_POOL_GOOD; reads++) {
		if (reads) {
			image_keep_pass_by(heap->image, true);
			sched_yield();
		}
		is_there = heap_read_pages(heap->image, address, bytes, size);
		if (is_there)
			state = python_pool_read(bytes, address, size, ret_pool, ret_free);
	}
	image_keep_pass_by(heap->image, false);
	if (!is_there)
		return PYTHON_POOL_NONE;
	return state == PYTHON_POOL_GOOD ? state : PYTHON_POOL_TORN;
}

uint32_t python_heap_block_size(const struct python_heap *heap, uint64_t address)
{
	uint64_t pool = address & ~(uint64_t)(heap->offsets->pool_size - 1);
	size_t low = 0, high = heap->pool_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (heap->pools[middle].address == pool)
			return heap->pools[middle].block_size;
		if (heap->pools[middle].address < pool)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

uint64_t python_heap_room(const struct python_heap *heap, uint64_t address)
{
	uint64_t size = python_heap_block_size(heap, address);
	const struct python_block *block = size ? NULL : python_blocks_find(&heap->large, address);

	return block ? block->size : size;
}
