/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with reports in JSON, one behind the other, as of INTERVAL. Anybody may have written them. */
#ifndef RECORDING_JSON_FILE_H
#define RECORDING_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Append a file of at most `most` bytes to `text`. Returns 0, or a negative errno with `error` filled (ERROR_USAGE), in which it is
 * called `what`, such as "report".
 */
int json_file_read(const char *path, size_t most, const char *what, struct buffer *text,
		   struct error *error);

/* Does a file begin as JSON does? Not if it cannot be read. */
bool json_file_is(const char *path);

/*
 * The last value of a text: free it with json_decref. NULL, with `error` filled (ERROR_USAGE), if not all of it is JSON, or values of it take more than
 * 16 times the memory of the text. No other values may be made in the program: the library's allocator is one that counts.
 */
json_t *json_file_last(const struct buffer *text, const char *what, struct error *error);

/* A whole number of an object, within bounds in which sums are numbers, too; 0 where there is none. */
uint64_t json_file_number(const json_t *object, const char *key);

/* The same of a value, with `other` where it is none. */
uint64_t json_file_value(const json_t *value, uint64_t other);

/* "2026-01-31T12:00:00Z", as seconds since the epoch. False if it is no such text. */
bool json_file_time(const json_t *value, int64_t *ret_time);

#endif
