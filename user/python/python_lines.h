/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes CPython's line tables. Pure, over untrusted bytes. */
#ifndef PYTHON_PYTHON_LINES_H
#define PYTHON_PYTHON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum python_lines {
	PYTHON_LINES_PAIRS, /* up to 3.9: "lnotab" */
	PYTHON_LINES_RANGES, /* 3.10: "linetable" */
	PYTHON_LINES_LOCATIONS, /* from 3.11: "location table" */
};

/*
 * The line of the instruction at `at` bytes from the first one, in a function that begins at `first_line`. A negative
 * `at` is the beginning of the function. 0 = the table marks it as without a line.
 * False, with `*ret_line` untouched, if the table ends before `at`.
 */
bool python_lines_find(enum python_lines kind, const uint8_t *table, size_t size,
		       uint32_t first_line, int64_t at, uint32_t *ret_line);

#endif
