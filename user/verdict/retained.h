/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program has retained: born between moments A and B, and still in use at B and at a third
 * moment C. With marks of one recording it is counted block by block, since each later interval has
 * the births of its blocks in use. For other moments it has bounds: the blocks born between A and B
 * that are in use at C are no more than were in use at B, and than were allocated meanwhile; and no
 * fewer than those in use at C that were neither in use at A nor allocated after B. For the bounds,
 * realloc counts as a birth.
 */
#ifndef VERDICT_RETAINED_H
#define VERDICT_RETAINED_H

#include "model/profile.h"

/* {0} = unknown, or nothing. */
struct retained {
	bool known;
	/* Lower and upper bound; equal if it was counted. */
	uint64_t low_bytes, high_bytes;
	uint64_t low_objects, high_objects;
};

/* Do three profiles A, B, C belong to one run, in this order, and does C have births by A and B? */
bool retained_has_births(const struct profile *const profiles[3]);

/* If so, count the blocks of a row of C that were born between A and B. */
void retained_add_births(struct retained *retained, const struct profile *const profiles[3],
			 const struct profile_row *row);

/*
 * The bounds of a site from its figures in three profiles: which are `known`, and which profiles
 * have it `listed`, including its cumulative allocations.
 */
struct retained retained_limit(const struct profile *const profiles[3],
			       const struct profile_figures figures[3], const bool listed[3],
			       const bool known[3]);

/* Add known values. */
void retained_add(struct retained *sum, const struct retained *more);

#endif
