/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The malloc blocks of a CPython process, in address order: its large objects, tables of
 * containers, and all of its objects if it has no pools. Pure.
 */
#ifndef PYTHON_PYTHON_BLOCKS_H
#define PYTHON_PYTHON_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of blocks, 16 bytes each; further ones are left out. */
#define PYTHON_BLOCKS_KEPT (16u << 20)

struct python_block {
	uint64_t address, size;
};

/* {0} is empty. */
struct python_blocks {
	struct python_block *items; /* owned */
	size_t count, capacity;
	uint64_t lost; /* left out */
};

/* Add a block in use; in any order. */
void python_blocks_add(struct python_blocks *blocks, uint64_t address, uint64_t size);
/* Call after the last one was added. */
void python_blocks_sort(struct python_blocks *blocks);
/* The block containing an address, or NULL. */
const struct python_block *python_blocks_find(const struct python_blocks *blocks, uint64_t address);
/* Does any block begin in */
bool python_blocks_has(const struct python_blocks *blocks, uint64_t start, uint64_t end);
void python_blocks_free(struct python_blocks *blocks);

#endif
