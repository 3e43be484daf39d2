/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the root of an allocator's radix tree: an array in the data of a module, with a pointer to
 * a leaf for each part of the address space that was ever used. Nearly all of it is 0. That is
 * checked first for each pointer, without a read: programs have large arrays of pointers, and each
 * of those could point to a leaf.
 */
#ifndef HEAP_HEAP_ROOT_H
#define HEAP_HEAP_ROOT_H

#include "image/image_search.h"

struct heap_root_search {
	uint64_t size; /* of the root, in bytes */
	uint64_t leaf_size; /* in bytes */
	unsigned int shift; /* address >> shift = the slot in the root */
	/*
	 * Does `leaf` contain entries of a leaf, and which slot points to it? Called for few
	 * addresses.
	 */
	bool (*leaf)(void *context, uint64_t leaf, uint64_t *ret_slot);
	void *context;
	bool misplaced; /* result: there is a leaf, but no root where it would have to be */
};

/* The address of the root, 0 if there is none. `ret_data`: the data of its module. */
uint64_t heap_root_find(struct image *image, struct heap_root_search *search,
			struct heap_range *ret_data);

#endif
