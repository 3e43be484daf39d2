/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of whole numbers as a recording has them: an array of JSON of arrays, so that json_each() of SQLite reads it. Pure. */
#ifndef RECORDING_NUMBER_ROWS_H
#define RECORDING_NUMBER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Append a row of `count` numbers, 1 at least. Numbers above INT64_MAX are lowered to that. number_rows_close comes after the last one. */
void number_rows_append(struct buffer *text, const uint64_t numbers[], size_t count);
/* Nothing is appended if there was no row. */
void number_rows_close(struct buffer *text);

/* Where a text is read; {0} is before its first row. */
struct number_rows {
	const char *at; /* behind the last row that was read */
	bool damaged; /* the text is none that number_rows_append writes */
};

/* Begin with a text; NULL = no rows. It must outlive the walk. */
struct number_rows number_rows_begin(const char *text);
/* The next row, which must have `count` numbers of at most `most`. False at the end, and where the text is damaged. */
bool number_rows_next(struct number_rows *rows, uint64_t ret_numbers[], size_t count,
		      uint64_t most);

/* Digits at `*text`, which moves behind them. False if there is none, or if the number is above INT64_MAX. */
bool number_rows_parse_number(const char **text, uint64_t *ret_number);

#endif
