/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes of red-black trees, as std::map and std::set have them: by their shape, and by parents that have them as a child. Of
 * each size some blocks are verified by a read, the others by the result.
 */
#ifndef HEAP_KIND_TREE_H
#define HEAP_KIND_TREE_H

#include "base/table.h"
#include "heap/image.h"

/* {0}: no size is known. */
struct kind_trees {
	struct table by_size; /* struct kind_tree; see kind_tree.c */
};

/* Is the block of `size` bytes at `address`, which begins with `bytes`, a node? `is_pointer`: may a word lead to another one? */
bool kind_trees_has(struct kind_trees *trees, struct image *image, uint64_t address, uint64_t size,
		    const unsigned char *bytes, size_t length,
		    bool (*is_pointer)(const struct image *image, uint64_t word));
void kind_trees_free(struct kind_trees *trees);

#endif
