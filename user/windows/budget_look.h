/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the contents of blocks from outside the process. A hash of a block's first bytes shows
 * whether it has changed since.
 */
#ifndef WINDOWS_BUDGET_LOOK_H
#define WINDOWS_BUDGET_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

enum look_state {
	LOOK_READ,
	LOOK_GONE, /* the memory is gone: unmapped, or returned to the kernel */
	LOOK_UNKNOWN, /* swapped out or unreadable */
};

struct look_item {
	uint64_t address, size; /* input: the block */
	void *of; /* caller's context */
	enum look_state state;
	uint32_t contents, length; /* output: hash of the first `length` bytes */
};

/*
 * Examine blocks; sorts them by address. The caller refreshes the image first. Large and adjacent
 * blocks take few reads.
 */
void budget_look(struct image *image, struct look_item *items, size_t count);

#endif
