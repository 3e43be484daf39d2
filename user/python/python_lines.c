/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_lines.h. Line numbers are summed up modulo 2^32, and what is no positive int counts as none. */
#include "python/python_lines.h"

/* How an entry of a location table encodes its line, beyond "the last one" (0..9) and "0 to 2 more" (10..12). */
#define LOCATION_SAME_MAX 9
#define LOCATION_ONE_LINE 10
#define LOCATION_NO_COLUMNS 13
#define LOCATION_LONG 14
#define LOCATION_NONE 15

/* A line of a range that has none. */
#define RANGE_NONE (-128)

static uint32_t lines_checked(uint32_t line)
{
	return line <= INT32_MAX ? line : 0;
}

/* Pairs of two steps: of the instruction and of the line. After the last pair, the line stays. */
static uint32_t lines_find_in_pairs(const uint8_t *table, size_t size, uint32_t line, uint64_t at)
{
	uint64_t address = 0;
	size_t i;

	for (i = 0; i + 1 < size; i += 2) {
		address += table[i];
		if (address > at)
			break;
		line += (uint32_t)(int8_t)table[i + 1];
	}
	return lines_checked(line);
}

/* Pairs of a range's length and its line's distance from the last range that has one. */
static bool lines_find_in_ranges(const uint8_t *table, size_t size, uint32_t line, uint64_t at,
				 uint32_t *ret_line)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i + 1 < size; i += 2) {
		int8_t step = (int8_t)table[i + 1];

		end += table[i];
		if (step != RANGE_NONE)
			line += (uint32_t)step;
		if (end <= at)
			continue;
		*ret_line = step == RANGE_NONE ? 0 : lines_checked(line);
		return true;
	}
	return false;
}

/* A number in groups of six bits, least significant first; bits beyond the 32nd are dropped. */
static uint32_t lines_number(const uint8_t *table, size_t size)
{
	uint32_t number = 0;
	unsigned int shift = 0;
	size_t i;

	for (i = 0; i < size && shift < 32; i++, shift += 6) {
		number |= (uint32_t)(table[i] & 63) << shift;
		if (!(table[i] & 64))
			break;
	}
	return number;
}

/* The distance of an entry's line from the last one's, by the bytes behind the entry's first. */
static uint32_t lines_step(unsigned int code, const uint8_t *table, size_t size)
{
	uint32_t number;

	if (code <= LOCATION_SAME_MAX || code == LOCATION_NONE)
		return 0;
	if (code < LOCATION_NO_COLUMNS)
		return code - LOCATION_ONE_LINE;
	number = lines_number(table, size);
	return number & 1 ? 0 - (number >> 1) : number >> 1;
}

/* Entries of a first byte, which has its high bit set, and more that have not. */
static bool lines_find_in_locations(const uint8_t *table, size_t size, uint32_t line, uint64_t at,
				    uint32_t *ret_line)
{
	uint64_t end = 0;
	size_t i = 0, next;

	while (i < size) {
		unsigned int code = table[i] >> 3 & 15;

		end += ((uint64_t)(table[i] & 7) + 1) * 2;
		for (next = i + 1; next < size && !(table[next] & 128); next++)
			;
		line += lines_step(code, table + i + 1, next - i - 1);
		if (end > at) {
			*ret_line = code == LOCATION_NONE ? 0 : lines_checked(line);
			return true;
		}
		i = next;
	}
	return false;
}

bool python_lines_find(enum python_lines kind, const uint8_t *table, size_t size,
		       uint32_t first_line, int64_t at, uint32_t *ret_line)
{
	if (at < 0) {
		*ret_line = lines_checked(first_line);
		return true;
	}
	switch (kind) {
	case PYTHON_LINES_PAIRS:
		*ret_line = lines_find_in_pairs(table, size, first_line, (uint64_t)at);
		return true;
	case PYTHON_LINES_RANGES:
		return lines_find_in_ranges(table, size, first_line, (uint64_t)at, ret_line);
	case PYTHON_LINES_LOCATIONS:
		return lines_find_in_locations(table, size, first_line, (uint64_t)at, ret_line);
	}
	return false;
}
