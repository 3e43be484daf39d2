/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of blocks, from outside: by a hash of how they begin, it shows whether they have changed since. */
#ifndef SESSION_BUDGET_LOOK_H
#define SESSION_BUDGET_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "heap/image.h"

enum look_state {
	LOOK_READ,
	LOOK_GONE, /* there is no memory any more: unmapped, or given back */
	LOOK_UNKNOWN, /* swapped out, or it could not be read */
};

struct look_item {
	uint64_t address, size; /* in: of the block */
	void *of; /* the caller's */
	enum look_state state;
	uint32_t contents, length; /* a hash, of so many bytes */
};

/*
 * Look at blocks; sorts them by address. The image is to be refreshed before. Of what is large, or next to each other, few reads are
 * made.
 */
void budget_look(struct image *image, struct look_item *items, size_t count);

#endif
