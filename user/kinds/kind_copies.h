/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds blocks with equal contents: of one size, and equal as far as a census examines them. */
#ifndef KINDS_KIND_COPIES_H
#define KINDS_KIND_COPIES_H

#include "kinds/kind_private.h"

#define KIND_COPIES_SHOWN 32

struct kind_copies {
	uint64_t blocks; /* in the sample */
	uint64_t size; /* of each */
	uint64_t address; /* the lowest of them */
	uint32_t row; /* of that block */
	bool is_mixed; /* they are in several rows, since their holders differ */
};

/*
 * Find the contents with the most memory in copies, at least 16 of each; the census must be kept.
 * Zeroes and absent memory do not count. Returns their number, largest first.
 */
size_t kind_copies_find(const struct kind_census *census,
			struct kind_copies ret_copies[KIND_COPIES_SHOWN]);
/* Number of bytes examined of a block of `size` bytes. */
uint64_t kind_copies_seen(uint64_t size);

#endif
