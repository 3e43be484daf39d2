/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_growth.h. */
#include "python/python_growth.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void python_growth_free(struct python_growth *growth)
{
	free(growth->pools);
	free(growth->tags);
	free(growth->old_pools);
	free(growth->old_tags);
	*growth = (struct python_growth){ 0 };
}

void python_growth_begin(struct python_growth *growth)
{
	free(growth->old_pools);
	free(growth->old_tags);
	growth->old_pools = growth->pools;
	growth->old_pool_count = growth->pool_count;
	growth->old_tags = growth->tags;
	growth->pools = NULL;
	growth->tags = NULL;
	growth->pool_count = growth->pool_capacity = 0;
	growth->tag_count = growth->tag_capacity = 0;
	growth->old = NULL;
	growth->looks++;
}

static const struct python_growth_pool *growth_find(const struct python_growth *growth,
						    uint64_t address)
{
	size_t low = 0, high = growth->old_pool_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (growth->old_pools[middle].address == address)
			return &growth->old_pools[middle];
		if (growth->old_pools[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void growth_reserve(struct python_growth *growth, uint32_t count)
{
	if (growth->tag_count + count > growth->tag_capacity) {
		growth->tag_capacity = growth->tag_capacity * 2 + count;
		growth->tags =
			memory_resize(growth->tags, growth->tag_capacity, sizeof(growth->tags[0]));
	}
	memset(growth->tags + growth->tag_count, 0, count * sizeof(growth->tags[0]));
}

void python_growth_add_pool(struct python_growth *growth, uint64_t address, uint32_t count)
{
	const struct python_growth_pool *old = growth_find(growth, address);

	growth_reserve(growth, count);
	growth->pools = memory_grow(growth->pools, growth->pool_count, &growth->pool_capacity,
				    sizeof(growth->pools[0]));
	growth->pools[growth->pool_count++] =
		(struct python_growth_pool){ address, growth->tag_count, count };
	growth->tag_count += count;
	/* A pool that has other blocks now has none of those objects. */
	growth->old = old && old->count == count ? growth->old_tags + old->first : NULL;
}

bool python_growth_add(struct python_growth *growth, uint32_t index, uint32_t tag)
{
	const struct python_growth_pool *pool = &growth->pools[growth->pool_count - 1];
	bool was_there;

	if (!growth->pool_count || index >= pool->count)
		return false;
	was_there = growth->old && growth->old[index] == tag;
	/* At the second look what was there is left out, from then on what was not. */
	if (growth->looks == 1 || was_there == (growth->looks > 2))
		growth->tags[pool->first + index] = tag;
	return was_there && growth->looks > 2;
}
