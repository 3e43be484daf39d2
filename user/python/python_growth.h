/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds objects of a CPython process that were made after the first look, existed at the second,
 * and at each one since: what a leak leaves behind, unlike objects that come and go. An object is
 * identified by its address, its type and words that seldom change, of which 4 bytes are kept for
 * each block of a pool. Pure.
 */
#ifndef PYTHON_PYTHON_GROWTH_H
#define PYTHON_PYTHON_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The record of a pool. */
struct python_growth_pool {
	uint64_t address;
	size_t first; /* index of its first tag */
	uint32_t count;
};

/* {0} is before the first look. */
struct python_growth {
	unsigned int looks; /* looks begun */
	struct python_growth_pool *pools; /* in address order */
	size_t pool_count, pool_capacity;
	uint32_t *tags; /* by block; 0 = nothing to compare */
	size_t tag_count, tag_capacity;
	/*
	 * From the previous look: everything after the first look; later only what was missing at
	 * the first.
	 */
	struct python_growth_pool *old_pools;
	size_t old_pool_count;
	uint32_t *old_tags;
	/* The current pool. */
	const uint32_t *old;
};

void python_growth_free(struct python_growth *growth);

/* Begin a look; it is compared with the previous one. */
void python_growth_begin(struct python_growth *growth);
/* Begin its next pool, of `count` blocks, in address order. */
void python_growth_add_pool(struct python_growth *growth, uint64_t address, uint32_t count);
/*
 * Add an object in block `index` of that pool; `tag` is not 0. From the third look on, returns true
 * if it was made after the first look and has existed since the second.
 */
bool python_growth_add(struct python_growth *growth, uint32_t index, uint32_t tag);

#endif
