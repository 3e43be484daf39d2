/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was born between two moments A and B, and is still in use at B and at a third one, C: what a program has retained. Marks of one recording
 * have the births of what is in use at any later interval, so it is counted, block by block. Of other moments it lies between limits: of
 * what is in use at C, no more was born between A and B than was in use at B, and than was allocated meanwhile; and what was neither in use
 * at A nor allocated after B was. By the limits a block is born where it is allocated, also by realloc.
 */
#ifndef ANALYZE_RETAINED_H
#define ANALYZE_RETAINED_H

#include "model/profile.h"

/* {0} = not known, or nothing. */
struct retained {
	bool known;
	/* What it is at least, and at most: equal where it was counted. */
	uint64_t low_bytes, high_bytes;
	uint64_t low_objects, high_objects;
};

/* Are three profiles A, B, C of one run, in this order, and has C births by A and B? */
bool retained_has_births(const struct profile *const profiles[3]);

/* If so, count what of a row of C was born between A and B. */
void retained_add_births(struct retained *retained, const struct profile *const profiles[3],
			 const struct profile_row *row);

/*
 * The limits of a site by its figures in three profiles: whether these are `known`, and whether each profile has `listed` it, and so has what it
 * had allocated until then.
 */
struct retained retained_limit(const struct profile *const profiles[3],
			       const struct profile_figures figures[3], const bool listed[3],
			       const bool known[3]);

/* A sum of what is known. */
void retained_add(struct retained *sum, const struct retained *more);

#endif
