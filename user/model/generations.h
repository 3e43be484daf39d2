/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks in use, grouped by birth: each belongs to the last mark before its birth. So the blocks
 * born between any two marks are a sum, at any later time.
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

/* Add a mark; ignored unless it is later than the last one. */
void marks_add(struct marks *marks, uint64_t time_ns);
void marks_free(struct marks *marks);
/*
 * The last mark before a time; 0 = none. A block born exactly at a mark belongs to the generation
 * before it.
 */
uint64_t marks_before(const struct marks *marks, uint64_t time_ns);
bool marks_have(const struct marks *marks, uint64_t time_ns);

/* Blocks born after a mark, up to and including the next one. */
struct generation {
	uint64_t since_ns; /* time of the mark; 0 = before the first one */
	uint64_t bytes, objects;
};

/* The generations of a site, ascending. {0} = none. */
struct generations {
	struct generation *items; /* owned */
	size_t count, capacity;
};

/* Add blocks; saturating. */
void generations_add(struct generations *generations, const struct generation *more);
/* The generation of a mark, or NULL. */
const struct generation *generations_find(const struct generations *generations, uint64_t since_ns);
/* A copy. */
void generations_copy(struct generations *to, const struct generations *from);
/* Empty, keeping the memory. */
void generations_clear(struct generations *generations);
void generations_free(struct generations *generations);
/* The sum of blocks born after mark `from_ns`, up to mark `to_ns`; UINT64_MAX = until now. */
struct generation generations_between(const struct generations *generations, uint64_t from_ns,
				      uint64_t to_ns);

#endif
