/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the holders of blocks: words equal to a block's start address, in other blocks, in data of
 * modules, in thread-local storage and stacks, in objects of runtimes. The best kind of holder
 * wins. Blocks of one kind that point to each other share one holder.
 */
#ifndef KINDS_KIND_HOLDERS_H
#define KINDS_KIND_HOLDERS_H

#include "kinds/kind_private.h"

enum kind_holder {
	HOLDER_NONE,
	HOLDER_STACK,
	HOLDER_BLOCK,
	HOLDER_THREAD, /* thread-local storage */
	HOLDER_STATIC,
	HOLDER_RUNTIME, /* objects of a runtime */
	HOLDER_CLASS, /* a block of a C++ class */
};

/* The holder of one block of the list. */
struct kind_held {
	/* Address of the word that holds it; for adjacent statics, that of the first one. */
	uint64_t place;
	uint32_t by; /* block containing the word; for HOLDER_RUNTIME the root */
	uint32_t parent; /* union-find parent among blocks sharing a holder */
	uint8_t holder; /* enum kind_holder */
	/* For the first block sharing a holder: there are others; they differ in size. */
	bool is_linked, is_mixed;
};

struct kind_holders {
	struct kind_census *census;
	const struct kind_roots *roots;
	struct kind_held *items; /* one per block of the list; owned */
	bool *plain; /* by row: only contents identify the blocks; owned */
	uint8_t *ranks; /* by row: rank of its blocks as holders; owned */
};

/* The first of the blocks that share a holder with block `i`. */
uint32_t kind_holders_first(struct kind_holders *holders, uint32_t i);

/*
 * Read all memory that may hold blocks; the list must be sorted and not empty. False if time ran
 * out. Free with kind_holders_free.
 */
bool kind_holders_find(struct kind_holders *holders, struct kind_census *census,
		       const struct thread_list *threads, const struct kind_roots *roots);
void kind_holders_free(struct kind_holders *holders);

#endif
