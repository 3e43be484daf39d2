/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stabilizes verdicts. A verdict applies to one moment and may change at the next. A row settles on
 * a word when all looks over some time agree, and changes it only if the new word excludes the old
 * one. A word is sure when it has been settled for long enough. Pure.
 */
#ifndef VERDICT_SETTLED_H
#define VERDICT_SETTLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verdict/verdict.h"
#include "base/table.h"

/* Limit of rows followed; others keep the momentary word, and are never sure. */
#define SETTLED_ROWS_MAX 65536

/* The rows with one word. */
struct settled_sum {
	size_t rows;
	uint64_t bytes; /* in use */
};

/* {0} = no look yet. Free with settled_free. */
struct settled {
	bool windows; /* verdicts are estimates: everything takes longer */
	/* CLOCK_MONOTONIC: start of tracing, and time of the last look */
	uint64_t start_ns, time_ns;
	struct table rows; /* by id: struct settled_row; owned */
	uint64_t changes; /* changes of words of rows that matter */
	/*
	 * With windows: heaps may grow without a row that shows it, so having no row that matters
	 * proves nothing. Set after settled_begin.
	 */
	bool heaps_may_grow;
	uint64_t nothing_ns; /* since when no row has mattered, if none does now */
	uint64_t bytes, bytes_before; /* in use in all rows, in this look and the previous one */
	struct settled_sum words[VERDICT_WORDS];
	size_t open; /* rows that matter and are not sure */
	size_t matter; /* rows that matter */
	uint64_t wait_ns; /* longest wait of these rows; 0 = not known */
};

/* Begin a look; settled_see follows once for each row of the report. */
void settled_begin(struct settled *settled, uint64_t start_ns, uint64_t time_ns);

/*
 * Pass in a row: its id, its bytes in use, and its momentary verdict. Returns the settled verdict,
 * with the numbers that established it and the current growth.
 */
struct verdict settled_see(struct settled *settled, uint64_t id, const struct verdict *verdict,
			   uint64_t inuse_bytes);

/* Is every row that matters sure? If none matters: has that lasted long enough? */
bool settled_is_sure(const struct settled *settled);

/* How much longer to watch until then; 0 = not known, or already sure. */
uint64_t settled_wait_ns(const struct settled *settled);

void settled_free(struct settled *settled);

#endif
