/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts items by the 64-bit number at their start, by merging ascending runs: fast for nearly
 * sorted input. In a header, so that the compiler knows their size.
 */
#ifndef BASE_RUNS_H
#define BASE_RUNS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static inline uint64_t runs_number(const unsigned char *items, size_t at, size_t size)
{
	uint64_t number;

	memcpy(&number, items + at * size, sizeof(number));
	return number;
}

/* The end of the ascending run that begins at `from`. */
static inline size_t runs_end(const unsigned char *items, size_t from, size_t count, size_t size)
{
	while (++from < count &&
	       runs_number(items, from - 1, size) <= runs_number(items, from, size))
		;
	return from < count ? from : count;
}

/*
 * Merge two runs, `left` to `middle` to `right`. Moves only items behind the first item of the
 * second run.
 */
static inline void runs_merge(unsigned char *items, size_t left, size_t middle, size_t right,
			      size_t size)
{
	size_t a = middle, b = right - middle, at = right;
	unsigned char *second = memory_alloc(b, size);

	memcpy(second, items + middle * size, b * size);
	while (b)
		if (a > left && runs_number(items, a - 1, size) > runs_number(second, b - 1, size))
			memcpy(items + --at * size, items + --a * size, size);
		else
			memcpy(items + --at * size, second + --b * size, size);
	free(second);
}

/* Merge each run with the next one. Returns the number of runs left. */
static inline size_t runs_merge_pairs(unsigned char *items, size_t count, size_t size)
{
	size_t left, middle, right, runs = 0;

	for (left = 0; left < count; left = right) {
		middle = right = runs_end(items, left, count, size);
		if (middle < count) {
			right = runs_end(items, middle, count, size);
			runs_merge(items, left, middle, right, size);
		}
		runs++;
	}
	return runs;
}

/* Sort: fast with few runs, and never more than n log n. */
static inline void runs_sort(void *items, size_t count, size_t size)
{
	while (runs_merge_pairs(items, count, size) > 1)
		;
}

#endif
