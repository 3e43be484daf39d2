/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks in use by when they were born: each belongs to the last mark before its birth. So what was born between any two marks is a sum,
 * however much later it is asked for.
 */
#ifndef MODEL_GENERATIONS_H
#define MODEL_GENERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times of marks, ascending. {0} = none. CLOCK_MONOTONIC. */
struct marks {
	uint64_t *times_ns; /* owned */
	size_t count, capacity;
};

/* A time that is not later than the last one is none of a mark, and left out. */
void marks_add(struct marks *marks, uint64_t time_ns);
void marks_free(struct marks *marks);
/* The last mark before a time; 0 = there is none. What is born at the time of a mark belongs to what was before it. */
uint64_t marks_before(const struct marks *marks, uint64_t time_ns);
bool marks_have(const struct marks *marks, uint64_t time_ns);

/* Blocks that were born after a mark, and not after the next one. */
struct generation {
	uint64_t since_ns; /* of the mark; 0 = before the first one */
	uint64_t bytes, objects;
};

/* Of a site; ascending. {0} = none. */
struct generations {
	struct generation *items; /* owned */
	size_t count, capacity;
};

/* Count blocks. Sums stay at their limits. */
void generations_add(struct generations *generations, const struct generation *more);
/* NULL = there is none. */
const struct generation *generations_find(const struct generations *generations, uint64_t since_ns);
/* A copy. */
void generations_copy(struct generations *to, const struct generations *from);
/* Empty, keeping the memory. */
void generations_clear(struct generations *generations);
void generations_free(struct generations *generations);
/* All that was born after `from_ns`, and not after the mark `to_ns`; UINT64_MAX = until now. Both are marks. */
struct generation generations_between(const struct generations *generations, uint64_t from_ns,
				      uint64_t to_ns);

#endif
