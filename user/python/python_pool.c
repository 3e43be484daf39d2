/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_pool.h. */
#include "python/python_pool.h"

#include <string.h>

#define BLOCK_STEP 16
#define SIZE_CLASSES (PYTHON_BLOCK_MAX / BLOCK_STEP)

/* struct pool_header */
struct pool_header {
	uint32_t used, unused;
	uint64_t free_block, next, previous;
	uint32_t arena, size_class, next_offset, max_next_offset;
};

static bool pool_holds_block(uint64_t offset, const struct python_pool *pool)
{
	return offset >= PYTHON_POOL_HEADER &&
	       !((offset - PYTHON_POOL_HEADER) % pool->block_size) &&
	       (offset - PYTHON_POOL_HEADER) / pool->block_size < pool->reached;
}

bool python_pool_read_header(const unsigned char bytes[PYTHON_POOL_HEADER], uint64_t address,
			     size_t size, struct python_pool *ret_pool)
{
	struct pool_header header;
	struct python_pool pool;

	memcpy(&header, bytes, sizeof(header));
	if (header.size_class >= SIZE_CLASSES)
		return false;
	pool.block_size = (header.size_class + 1) * BLOCK_STEP;
	if (header.max_next_offset != size - pool.block_size ||
	    header.next_offset <= PYTHON_POOL_HEADER || header.next_offset > size ||
	    (header.next_offset - PYTHON_POOL_HEADER) % pool.block_size)
		return false;
	pool.blocks = (uint32_t)(size - PYTHON_POOL_HEADER) / pool.block_size;
	pool.reached = (header.next_offset - PYTHON_POOL_HEADER) / pool.block_size;
	pool.used = header.used;
	pool.arena = header.arena;
	if (pool.used > pool.reached || pool.reached > pool.blocks)
		return false;
	*ret_pool = pool;
	return !header.free_block || pool_holds_block(header.free_block - address, &pool);
}

/* Follow the free blocks, each of which begins with the next one's address. False where they lead astray, or in a circle. */
static bool pool_follow(const unsigned char *bytes, uint64_t address,
			const struct python_pool *pool, unsigned char *free, uint32_t *ret_count)
{
	uint64_t block, offset, index;
	uint32_t count = 0;

	memcpy(&block, bytes + offsetof(struct pool_header, free_block), sizeof(block));
	while (block) {
		offset = block - address;
		if (!pool_holds_block(offset, pool))
			return false;
		index = (offset - PYTHON_POOL_HEADER) / pool->block_size;
		if (free[index])
			return false;
		free[index] = 1;
		count++;
		memcpy(&block, bytes + offset, sizeof(block));
	}
	*ret_count = count;
	return true;
}

enum python_pool_state python_pool_read(const unsigned char *bytes, uint64_t address, size_t size,
					struct python_pool *ret_pool,
					unsigned char ret_free[PYTHON_BLOCKS_MAX])
{
	uint32_t count;

	if (size > PYTHON_POOL_MAX || !python_pool_read_header(bytes, address, size, ret_pool))
		return PYTHON_POOL_NONE;
	memset(ret_free, 0, ret_pool->reached);
	memset(ret_free + ret_pool->reached, 1, ret_pool->blocks - ret_pool->reached);
	if (!pool_follow(bytes, address, ret_pool, ret_free, &count) ||
	    count + ret_pool->used != ret_pool->reached)
		return PYTHON_POOL_TORN;
	return PYTHON_POOL_GOOD;
}
