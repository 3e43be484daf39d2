/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of blocks in lists: those of a target are adjacent, by ascending address. */
#ifndef FOLLOW_BLOCK_KEY_H
#define FOLLOW_BLOCK_KEY_H

#include "base/compare.h"
#include "tracer_abi.h"

static inline int block_key_compare(const struct block_key *a, const struct block_key *b)
{
	if (a->target_id != b->target_id)
		return compare_numbers(a->target_id, b->target_id);
	if (a->address != b->address)
		return compare_numbers(a->address, b->address);
	return compare_numbers(a->exec_id, b->exec_id);
}

#endif
