/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc's functions for heaps of the program's own, and those that make a block larger and clear what is new. The
 * program keeps its own account. `heaps all [wait]`.
 */
#include <mimalloc.h>
#include <stdint.h>

#include "truth.h"

#define ALIGNMENT 64
#define OFFSET 8

static mi_heap_t *heap;

/* All that make a block, in turn. */
SITE static void *site_make(size_t way, size_t size)
{
	void *block = NULL;

	if (way == 0)
		block = mi_heap_malloc_aligned_at(heap, size, ALIGNMENT, OFFSET);
	else if (way == 1)
		block = mi_heap_zalloc_aligned_at(heap, size, ALIGNMENT, OFFSET);
	else if (way == 2)
		block = mi_heap_calloc_aligned(heap, 1, size, ALIGNMENT);
	else if (way == 3)
		block = mi_heap_calloc_aligned_at(heap, 1, size, ALIGNMENT, OFFSET);
	else if (way == 4)
		block = mi_heap_malloc(heap, size);
	else
		block = mi_heap_malloc_aligned(heap, size, ALIGNMENT);
	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

/* The same of those that make one larger; `size` is a multiple of 10. */
SITE static void *site_grow(size_t way, void *block, size_t size)
{
	if (way == 0)
		block = mi_heap_rezalloc(heap, block, size);
	else if (way == 1)
		block = mi_heap_recalloc(heap, block, size / 10, 10);
	else if (way == 2)
		block = mi_heap_reallocf(heap, block, size);
	else if (way == 3)
		block = mi_heap_realloc_aligned(heap, block, size, ALIGNMENT);
	else if (way == 4)
		block = mi_heap_realloc_aligned_at(heap, block, size, ALIGNMENT, 0);
	else if (way == 5)
		block = mi_heap_rezalloc_aligned(heap, block, size, ALIGNMENT);
	else if (way == 6)
		block = mi_heap_rezalloc_aligned_at(heap, block, size, ALIGNMENT, 0);
	else if (way == 7)
		block = mi_heap_recalloc_aligned(heap, block, size / 10, 10, ALIGNMENT);
	else
		block = mi_heap_recalloc_aligned_at(heap, block, size / 10, 10, ALIGNMENT, 0);
	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void heaps_round(size_t n)
{
	size_t way, size = 100 + n;
	void *block;

	for (way = 0; way < 5; way++)
		site_make(way, size + way);
	for (way = 0; way < 5; way++) {
		mi_free(site_make(way, size));
		truth_free("site_make", size);
	}
	/* What cannot be made larger is freed. */
	block = mi_reallocf(site_make(4, size), SIZE_MAX / 4);
	if (block)
		abort();
	truth_free("site_make", size);
	block = site_make(5, size);
	truth_free("site_make", size);
	for (way = 0; way < 9; way++) {
		size = 1000 * (way + 1) * (n % 50 + 1);
		block = site_grow(way, block, size);
		if (way < 8)
			truth_free("site_grow", size);
	}
}

int main(int argc, char **argv)
{
	size_t n;

	truth_begin(argc > 2 ? argv[2] : NULL);
	heap = mi_heap_new();
	for (n = 1; n <= 100; n++)
		heaps_round(n);
	truth_end();
	return 0;
}
