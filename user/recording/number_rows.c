/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See number_rows.h. */
#include "recording/number_rows.h"

#include <inttypes.h>

void number_rows_append(struct buffer *text, const uint64_t numbers[], size_t count)
{
	size_t i;

	buffer_append_string(text, text->length ? "," : "[");
	for (i = 0; i < count; i++)
		buffer_printf(text, "%c%" PRIu64, i ? ',' : '[',
			      numbers[i] < INT64_MAX ? numbers[i] : INT64_MAX);
	buffer_append_string(text, "]");
}

void number_rows_close(struct buffer *text)
{
	if (text->length)
		buffer_append_string(text, "]");
}

bool number_rows_parse_number(const char **text, uint64_t *ret_number)
{
	const char *first = *text;
	uint64_t number = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(**text - '0'), &number) ||
		    number > INT64_MAX)
			return false;
	*ret_number = number;
	return *text > first;
}

struct number_rows number_rows_begin(const char *text)
{
	return (struct number_rows){ .at = text, .damaged = text && *text != '[' };
}

static bool number_rows_parse(const char **text, uint64_t ret_numbers[], size_t count,
			      uint64_t most)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (*(*text)++ != (i ? ',' : '[') ||
		    !number_rows_parse_number(text, &ret_numbers[i]) || ret_numbers[i] > most)
			return false;
	return *(*text)++ == ']';
}

bool number_rows_next(struct number_rows *rows, uint64_t ret_numbers[], size_t count, uint64_t most)
{
	const char *text = rows->at;

	if (rows->damaged || !text || !*text)
		return false;
	/* The '[' or ',' before the row. */
	text++;
	rows->damaged = !number_rows_parse(&text, ret_numbers, count, most) ||
			(*text != ',' && (*text != ']' || text[1]));
	rows->at = !rows->damaged && *text == ',' ? text : "";
	return !rows->damaged;
}
