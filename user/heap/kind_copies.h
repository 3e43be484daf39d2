/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks with equal contents: of one size, and alike as far as a census looks at them. */
#ifndef HEAP_KIND_COPIES_H
#define HEAP_KIND_COPIES_H

#include "heap/kind_private.h"

#define KIND_COPIES_SHOWN 32

struct kind_copies {
	uint64_t blocks; /* of the sample */
	uint64_t size; /* of each */
	uint64_t address; /* of one of them, the lowest */
	uint32_t row; /* of that one */
	bool is_mixed; /* others are in other rows, since they are held by something else */
};

/*
 * Find what most memory is copies of, at least 16 of each; a census that is kept. Zeroes and what is not in memory do not count.
 * Returns how many were found, the largest first.
 */
size_t kind_copies_find(const struct kind_census *census,
			struct kind_copies ret_copies[KIND_COPIES_SHOWN]);
/* How many bytes from its start are looked at in a block of `size` bytes. */
uint64_t kind_copies_seen(uint64_t size);

#endif
