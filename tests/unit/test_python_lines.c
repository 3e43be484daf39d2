/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of Python instructions. Truth: what the interpreters 3.8 to 3.13 say of functions that they compiled
 * themselves (tests/data/interp/lines.py wrote lines.txt under each), and the example of CPython's lnotab_notes.txt.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_layout.h"

#define TABLE_MAX 4096
#define LINE_SIZE 65536

static size_t parse_hex(const char *text, uint8_t *bytes)
{
	unsigned int byte;
	size_t size = 0;

	while (sscanf(text + 2 * size, "%2x", &byte) == 1 && size < TABLE_MAX)
		bytes[size++] = (uint8_t)byte;
	return size;
}

/* Memory of exactly the table's size, so that a read behind it is found. */
static uint8_t *exact_copy(const uint8_t *table, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, table, size);
	return copy;
}

/* Check each "offset=line". Returns how many there were. */
static unsigned int check_pairs(char *pairs, enum python_lines kind, const uint8_t *table,
				size_t size, unsigned int first_line)
{
	unsigned int at, line, count = 0;
	char *pair, *rest;

	for (pair = strtok_r(pairs, " \n", &rest); pair; pair = strtok_r(NULL, " \n", &rest)) {
		uint32_t found = ~0u;

		assert_int_equal(sscanf(pair, "%u=%u", &at, &line), 2);
		assert_true(python_lines_find(kind, table, size, first_line, at, &found));
		assert_int_equal(found, line);
		count++;
	}
	return count;
}

static void test_interpreters(void **state)
{
	FILE *data = fopen("tests/data/interp/lines.txt", "r");
	char *line = malloc(LINE_SIZE), *hex = malloc(LINE_SIZE);
	unsigned int functions = 0, instructions = 0;
	uint8_t bytes[TABLE_MAX];

	(void)state;
	assert_non_null(data);
	while (fgets(line, LINE_SIZE, data)) {
		struct python_layout layout = { .lines = PYTHON_LINES_LOCATIONS };
		unsigned int minor, first_line;
		uint8_t *table;
		size_t size;
		int length;

		assert_int_equal(
			sscanf(line, "3.%u %u %65535s %n", &minor, &first_line, hex, &length), 3);
		python_layout_find(minor, &layout);
		size = parse_hex(hex, bytes);
		table = exact_copy(bytes, size);
		instructions += check_pairs(line + length, layout.lines, table, size, first_line);
		functions++;
		free(table);
	}
	fclose(data);
	free(line);
	free(hex);
	assert_true(functions > 40);
	assert_true(instructions > 1000);
}

/* Offsets 0, 6, 50, 350 and 361 begin lines 1, 2, 7, 207 and 208. */
static void test_notes(void **state)
{
	static const uint8_t table[] = { 0, 1, 6, 1, 44, 5, 255, 0, 45, 127, 0, 73, 11, 1 };
	static const uint32_t expected[][2] = { { 0, 1 },     { 5, 1 },	    { 6, 2 },
						{ 49, 2 },    { 50, 7 },    { 349, 7 },
						{ 350, 207 }, { 360, 207 }, { 361, 208 },
						{ 9999, 208 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint32_t line = 0;

		assert_true(python_lines_find(PYTHON_LINES_PAIRS, table, sizeof(table), 0,
					      expected[i][0], &line));
		assert_int_equal(line, expected[i][1]);
	}
}

/* Tables that end too early say nothing; what has not begun is at the first line; sums never get out of bounds. */
static void test_broken(void **state)
{
	static const uint8_t open[] = { 0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f };
	static const uint8_t down[] = { 4, 0x81, 4, 0x81 };
	uint32_t line = 5;

	(void)state;
	assert_false(python_lines_find(PYTHON_LINES_LOCATIONS, open, 0, 1, 0, &line));
	assert_false(python_lines_find(PYTHON_LINES_RANGES, down, 1, 1, 0, &line));
	assert_false(python_lines_find(PYTHON_LINES_RANGES, down, sizeof(down), 1, 8, &line));
	assert_false(python_lines_find(PYTHON_LINES_LOCATIONS, open, sizeof(open), 1, 2, &line));
	assert_int_equal(line, 5);
	assert_true(python_lines_find(PYTHON_LINES_LOCATIONS, open, sizeof(open), 1, 0, &line));
	assert_true(line <= INT32_MAX);
	assert_true(python_lines_find(PYTHON_LINES_RANGES, down, sizeof(down), 100, 6, &line));
	assert_int_equal(line, 0);
	assert_true(python_lines_find(PYTHON_LINES_LOCATIONS, NULL, 0, 7, -2, &line));
	assert_int_equal(line, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreters),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
