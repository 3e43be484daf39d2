/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds blocks: words that hold the exact address where a block begins, in other blocks, in data of modules, in threads' own
 * storage and stacks, in objects of runtimes. The best kind of holder wins. Blocks of one kind that point to each other have one holder together.
 */
#ifndef HEAP_KIND_HOLDERS_H
#define HEAP_KIND_HOLDERS_H

#include "heap/kind_private.h"

enum kind_holder {
	HOLDER_NONE,
	HOLDER_STACK,
	HOLDER_BLOCK,
	HOLDER_THREAD, /* thread-local storage */
	HOLDER_STATIC,
	HOLDER_RUNTIME, /* objects of a runtime */
	HOLDER_CLASS, /* a block of a C++ class */
};

/* Of each block of the list. */
struct kind_held {
	/* Where the word is that holds it; of statics that follow each other, where the first one is. */
	uint64_t place;
	uint32_t by; /* the block that has the word; the root, of HOLDER_RUNTIME */
	uint32_t parent; /* of those that have one holder together */
	uint8_t holder; /* enum kind_holder */
	/* Of the first of those that have one holder together: there are others; they differ in size. */
	bool is_linked, is_mixed;
};

struct kind_holders {
	struct kind_census *census;
	const struct kind_roots *roots;
	struct kind_held *items; /* as many as blocks are in the list; owned */
	bool *plain; /* of rows: only contents show what the blocks are; owned */
	uint8_t *ranks; /* of rows: what a block is as a holder; owned */
};

/* The first of the blocks that have one holder together with block `i`. */
uint32_t kind_holders_first(struct kind_holders *holders, uint32_t i);

/* Read all that may hold blocks; the list is sorted and not empty. False if there was no time. Free with kind_holders_free. */
bool kind_holders_find(struct kind_holders *holders, struct kind_census *census,
		       const struct thread_list *threads, const struct kind_roots *roots);
void kind_holders_free(struct kind_holders *holders);

#endif
