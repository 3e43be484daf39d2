/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that stay. A verdict is of one moment, and that of the next one may be another; a row settles on a word when all looks of a time have
 * given it, and on another one only if that excludes the first. What is sure has settled for long enough. Pure.
 */
#ifndef ANALYZE_SETTLED_H
#define ANALYZE_SETTLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/verdict.h"
#include "base/table.h"

/* So many rows are followed: others have the word of the moment, and are never sure. */
#define SETTLED_ROWS_MAX 65536

/* Rows of one word. */
struct settled_sum {
	size_t rows;
	uint64_t bytes; /* in use */
};

/* {0} = nothing was looked at. Free with settled_free. */
struct settled {
	bool windows; /* verdicts are estimates: all takes longer */
	uint64_t start_ns, time_ns; /* CLOCK_MONOTONIC: when tracing began, and of the last look */
	struct table rows; /* by id: struct settled_row; owned */
	uint64_t changes; /* of words, of rows that matter */
	/* Windows: heaps may grow by what no row has, so that nothing is known by that no row matters. Set after settled_begin. */
	bool heaps_may_grow;
	uint64_t nothing_ns; /* since this look no row has mattered, if none does now */
	uint64_t bytes, bytes_before; /* in use, of all rows, in this look and in the one before */
	struct settled_sum words[VERDICT_WORDS];
	size_t open; /* rows that matter and are not sure */
	size_t matter; /* rows that do */
	uint64_t wait_ns; /* the longest that one of them asks for; 0 = not known */
};

/* Begin a look: the rows of a report follow, each once. */
void settled_begin(struct settled *settled, uint64_t start_ns, uint64_t time_ns);

/*
 * A row, by its id, what it has in use, and its verdict of now. Returns the verdict that it has settled on: with the numbers by which that was
 * found, and the growth of now.
 */
struct verdict settled_see(struct settled *settled, uint64_t id, const struct verdict *verdict,
			   uint64_t inuse_bytes);

/* Is each row sure that matters? If none does: has that been so for long enough? */
bool settled_is_sure(const struct settled *settled);

/* For how much longer should one look until that is so; 0 = not known, or it is so. */
uint64_t settled_wait_ns(const struct settled *settled);

void settled_free(struct settled *settled);

#endif
