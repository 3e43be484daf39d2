/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses pools of CPython's object allocator: pages of equal blocks with a header that is the same
 * from 3.9 to 3.14. Pure: works on bytes read elsewhere. A pool is accepted only if its free blocks
 * match its count of used ones.
 */
#ifndef PYTHON_PYTHON_POOL_H
#define PYTHON_PYTHON_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_POOL_HEADER 48
#define PYTHON_POOL_MAX 0x4000 /* bytes, from 3.10 on; 4 KB before */
#define PYTHON_BLOCKS_MAX 1024 /* limit per pool */
#define PYTHON_BLOCK_MAX 512 /* bytes; larger blocks come from malloc */

struct python_pool {
	uint32_t block_size;
	uint32_t blocks; /* that fit */
	uint32_t used; /* by the header's count */
	uint32_t arena; /* index of the arena, common to its pools */
	uint32_t reached; /* blocks used at least once; the others are free */
};

enum python_pool_state {
	PYTHON_POOL_NONE, /* no pool */
	PYTHON_POOL_TORN, /* a pool's header that contradicts its free blocks */
	PYTHON_POOL_GOOD,
};

/* Can this header, at `address`, begin a pool of `size` bytes? Fills in `ret_pool`. */
bool python_pool_read_header(const unsigned char header[PYTHON_POOL_HEADER], uint64_t address,
			     size_t size, struct python_pool *ret_pool);

/*
 * Parse a whole pool of `size` bytes. `ret_free` gets a byte per block, 1 = free. All results are
 * defined only for PYTHON_POOL_GOOD.
 */
enum python_pool_state python_pool_read(const unsigned char *bytes, uint64_t address, size_t size,
					struct python_pool *ret_pool,
					unsigned char ret_free[PYTHON_BLOCKS_MAX]);

#endif
