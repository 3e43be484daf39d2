/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What user/objects finds in the pools of a live Python, as JSON: of each size of blocks the pools and blocks in use.
 *
 *	python_pools PID
 */
#include <stdio.h>

#include "any_image.h"
#include "python/python_heap.h"

#define SIZES (PYTHON_BLOCK_MAX / 8 + 1)

struct sizes {
	unsigned long pools[SIZES], blocks[SIZES];
	unsigned long missing; /* pools that could not be read */
};

static void count_pool(struct python_heap *heap, uint64_t address, struct sizes *sizes)
{
	static unsigned char bytes[PYTHON_POOL_MAX], is_free[PYTHON_BLOCKS_MAX];
	struct python_pool pool;
	unsigned int i, used;

	if (python_heap_read_pool(heap, address, bytes, &pool, is_free) != PYTHON_POOL_GOOD ||
	    pool.block_size > PYTHON_BLOCK_MAX) {
		sizes->missing++;
		return;
	}
	/* Not the header's count: it has been compared with this one. */
	for (i = used = 0; i < pool.blocks; i++)
		used += !is_free[i];
	sizes->pools[pool.block_size / 8] += used > 0;
	sizes->blocks[pool.block_size / 8] += used;
}

static void print_sizes(const struct sizes *sizes)
{
	const char *comma = "";
	unsigned int i;

	printf("{\"missing\": %lu, \"sizes\": {", sizes->missing);
	for (i = 0; i < SIZES; i++) {
		if (!sizes->pools[i])
			continue;
		printf("%s\"%u\": [%lu, %lu]", comma, i * 8, sizes->pools[i], sizes->blocks[i]);
		comma = ", ";
	}
	printf("}}\n");
}

int main(int argc, char **argv)
{
	static struct sizes sizes;
	struct error error = { 0 };
	struct python_heap *heap;
	struct image *image;
	size_t i;

	if (argc < 2)
		return 2;
	if (any_image_open(argv[1], &image, &error) || python_heap_find(image, &heap, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (i = 0; i < heap->pool_count; i++)
		count_pool(heap, heap->pools[i].address, &sizes);
	print_sizes(&sizes);
	python_heap_free(heap);
	image_free(image);
	return 0;
}
