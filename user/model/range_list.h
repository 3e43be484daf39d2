/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ordered, non-overlapping address ranges with owners, as a skip list: find, add, cut and remove
 * take logarithmic time on average.
 */
#ifndef MODEL_RANGE_LIST_H
#define MODEL_RANGE_LIST_H

#include <stddef.h>
#include <stdint.h>

#define RANGE_LEVELS 16

/* [start, end). Outside of a list, next[0] may link ranges into a chain. Free with free(). */
struct range {
	uint64_t start, end;
	void *owner;
	uint32_t levels;
	struct range *next[];
};

struct range_list {
	struct range *first[RANGE_LEVELS];
	/* Chooses heights; the seed need not be good, only secret. */
	uint64_t random;
	size_t count;
};

void range_list_init(struct range_list *list, uint64_t seed);

/*
 * Add [start, end), which must not be empty or overlap a range. Merges with neighbours of the same
 * owner.
 */
void range_list_add(struct range_list *list, uint64_t start, uint64_t end, void *owner);

/*
 * Remove [start, end), cutting ranges that cross its ends. Returns the chain of removed ranges, in
 * order, for the caller to free; NULL if there were none.
 */
struct range *range_list_take(struct range_list *list, uint64_t start, uint64_t end);

void range_list_free(struct range_list *list);

#endif
