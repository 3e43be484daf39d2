/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pools of CPython's object allocator: pages of blocks of one size, which begin with a header that is the same from 3.9 to 3.14.
 * Pure: works on bytes that somebody has read. A pool is taken for one only if its free blocks and its count of used ones agree.
 */
#ifndef OBJECTS_PYTHON_POOL_H
#define OBJECTS_PYTHON_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_POOL_HEADER 48
#define PYTHON_POOL_MAX 0x4000 /* bytes, from 3.10 on; 4 KB before */
#define PYTHON_BLOCKS_MAX 1024 /* of a pool, at least */
#define PYTHON_BLOCK_MAX 512 /* bytes; larger ones are malloc's */

struct python_pool {
	uint32_t block_size;
	uint32_t blocks; /* that fit */
	uint32_t used; /* by the header's count */
	uint32_t arena; /* index, which pools of an arena have in common */
	uint32_t reached; /* blocks that were used at least once: the others are free */
};

enum python_pool_state {
	PYTHON_POOL_NONE, /* no pool */
	PYTHON_POOL_TORN, /* a pool's header, with which its free blocks do not agree */
	PYTHON_POOL_GOOD,
};

/* May a pool of `size` bytes begin with this header, at `address`? Fills in `ret_pool`. */
bool python_pool_read_header(const unsigned char header[PYTHON_POOL_HEADER], uint64_t address,
			     size_t size, struct python_pool *ret_pool);

/*
 * Look at a whole pool of `size` bytes. `ret_free` gets a byte for each block, 1 = free. All of it is defined if the state is
 * PYTHON_POOL_GOOD.
 */
enum python_pool_state python_pool_read(const unsigned char *bytes, uint64_t address, size_t size,
					struct python_pool *ret_pool,
					unsigned char ret_free[PYTHON_BLOCKS_MAX]);

#endif
