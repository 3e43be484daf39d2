/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which objects of a CPython process were made after the first look, were there at the second one, and are there at each one since: what
 * a leak leaves behind, and what comes and goes does not. An object is known by its address, its type and words that seldom change, of
 * which 4 bytes are kept for each block of a pool. Pure.
 */
#ifndef OBJECTS_PYTHON_GROWTH_H
#define OBJECTS_PYTHON_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept of a pool. */
struct python_growth_pool {
	uint64_t address;
	size_t first; /* of its tags */
	uint32_t count;
};

/* {0} is before the first look. */
struct python_growth {
	unsigned int looks; /* that have begun */
	struct python_growth_pool *pools; /* in the order of addresses, as they were walked */
	size_t pool_count, pool_capacity;
	uint32_t *tags; /* of blocks; 0 = nothing to compare with */
	size_t tag_count, tag_capacity;
	/* Of the look before: the first one's, and from the second one on only what was not there at the first one. */
	struct python_growth_pool *old_pools;
	size_t old_pool_count;
	uint32_t *old_tags;
	/* The pool that is walked. */
	const uint32_t *old;
};

void python_growth_free(struct python_growth *growth);

/* A look begins: what was kept last is what is compared with. */
void python_growth_begin(struct python_growth *growth);
/* Its next pool, of `count` blocks. Pools come in the order of addresses. */
void python_growth_add_pool(struct python_growth *growth, uint64_t address, uint32_t count);
/*
 * An object in block `index` of that pool; `tag` is not 0. True if it was made after the first look and is there since the second
 * one: from the third look on.
 */
bool python_growth_add(struct python_growth *growth, uint32_t index, uint32_t tag);

#endif
