/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes nodes of red-black trees, as in std::map and std::set, by their shape, and by parents
 * that have them as a child. For each size some blocks are verified by a read; the result applies
 * to the others.
 */
#ifndef KINDS_KIND_TREE_H
#define KINDS_KIND_TREE_H

#include "base/table.h"
#include "image/image.h"

/* {0}: no size known yet. */
struct kind_trees {
	struct table by_size; /* struct kind_tree; see kind_tree.c */
};

/*
 * Is the block of `size` bytes at `address`, with first bytes `bytes`, a node? `is_pointer`: can a
 * word point to another node?
 */
bool kind_trees_has(struct kind_trees *trees, struct image *image, uint64_t address, uint64_t size,
		    const unsigned char *bytes, size_t length,
		    bool (*is_pointer)(const struct image *image, uint64_t word));
void kind_trees_free(struct kind_trees *trees);

#endif
