/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses that do not overlap, each with an owner, in order: a skip list, so that a range is
 * found, added, cut and taken out in logarithmic time on average.
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
	/* Decides heights; its start value need not be good, only not known outside. */
	uint64_t random;
	size_t count;
};

void range_list_init(struct range_list *list, uint64_t seed);

/* Add [start, end), which must not be empty nor overlap a range. It joins neighbours of the same owner. */
void range_list_add(struct range_list *list, uint64_t start, uint64_t end, void *owner);

/*
 * Take out what lies in [start, end), cutting the ranges that cross its borders. Returns the chain of what
 * was taken, in order, for the caller to free; NULL if nothing was there.
 */
struct range *range_list_take(struct range_list *list, uint64_t start, uint64_t end);

void range_list_free(struct range_list *list);

#endif
