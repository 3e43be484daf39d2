/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_tree.h. */
#include "kinds/kind_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TREE_WORDS 4
#define TREE_SAMPLES 24 /* blocks of a size that are verified */
#define TREE_SIZES 4096 /* more sizes than any program has nodes of */

/* Where a library has the words of a node: libstdc++, libc++. */
static const struct tree_shape {
	unsigned int color, parent, left, right;
	uint64_t color_mask; /* what is behind the color is not written */
} shapes[] = {
	{ 0, 1, 2, 3, 0xffffffff },
	{ 3, 2, 0, 1, 0xff },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Of a size, and each shape. */
struct kind_tree {
	uint32_t tried[SHAPES], right[SHAPES];
};

static bool tree_has_shape(const struct tree_shape *shape, const struct image *image,
			   const uint64_t words[TREE_WORDS],
			   bool (*is_pointer)(const struct image *image, uint64_t word))
{
	uint64_t left = words[shape->left], right = words[shape->right];

	return (words[shape->color] & shape->color_mask) <= 1 && (!left || left != right) &&
	       is_pointer(image, words[shape->parent]) && (!left || is_pointer(image, left)) &&
	       (!right || is_pointer(image, right));
}

/* A child of its parent, or the root, to which the head of the tree points. */
static bool tree_is_child(const struct tree_shape *shape, struct image *image, uint64_t address,
			  const uint64_t words[TREE_WORDS])
{
	uint64_t parent[TREE_WORDS];

	if (!image_read(image, words[shape->parent], parent, sizeof(parent)))
		return false;
	return parent[shape->left] == address || parent[shape->right] == address ||
	       parent[shape->parent] == address;
}

static struct kind_tree *tree_of_size(struct kind_trees *trees, uint64_t size)
{
	struct kind_tree *tree = table_get(&trees->by_size, size);

	if (tree || trees->by_size.count >= TREE_SIZES)
		return tree;
	tree = memory_alloc(1, sizeof(*tree));
	table_put(&trees->by_size, size, tree);
	return tree;
}

bool kind_trees_has(struct kind_trees *trees, struct image *image, uint64_t address, uint64_t size,
		    const unsigned char *bytes, size_t length,
		    bool (*is_pointer)(const struct image *image, uint64_t word))
{
	uint64_t words[TREE_WORDS];
	struct kind_tree *tree;
	bool is_child;
	size_t i;

	if (length < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	for (i = 0; i < SHAPES; i++) {
		if (!tree_has_shape(&shapes[i], image, words, is_pointer))
			continue;
		tree = tree_of_size(trees, size);
		if (!tree)
			return false;
		if (tree->tried[i] < TREE_SAMPLES) {
			is_child = tree_is_child(&shapes[i], image, address, words);
			tree->tried[i]++;
			tree->right[i] += is_child;
		} else {
			is_child = tree->right[i] * 4 >= tree->tried[i] * 3;
		}
		if (is_child)
			return true;
	}
	return false;
}

void kind_trees_free(struct kind_trees *trees)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&trees->by_size, &cursor)))
		free(slot->value);
	table_free(&trees->by_size);
}
