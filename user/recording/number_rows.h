/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of whole numbers in a recording: a JSON array of arrays, so that SQLite's json_each() reads
 * it. Pure.
 */
#ifndef RECORDING_NUMBER_ROWS_H
#define RECORDING_NUMBER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Append a row of `count` numbers, at least 1. Numbers above INT64_MAX are clamped. Call
 * number_rows_close after the last row.
 */
void number_rows_append(struct buffer *text, const uint64_t numbers[], size_t count);
/* Appends nothing if there was no row. */
void number_rows_close(struct buffer *text);

/* Position of a reader; {0} is before the first row. */
struct number_rows {
	const char *at; /* after the last row read */
	bool damaged; /* number_rows_append cannot have written the text */
};

/* Start reading a text; NULL = no rows. The text must outlive the walk. */
struct number_rows number_rows_begin(const char *text);
/*
 * Read the next row, which must have `count` numbers of at most `most`. False at the end, and if
 * the text is damaged.
 */
bool number_rows_next(struct number_rows *rows, uint64_t ret_numbers[], size_t count,
		      uint64_t most);

/*
 * Parse digits at `*text`, and advance it. False if there are none, or the number exceeds
 * INT64_MAX.
 */
bool number_rows_parse_number(const char **text, uint64_t *ret_number);

#endif
