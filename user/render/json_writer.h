/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON, one value after the other, into a buffer. What comes out is always valid JSON on one line if every
 * open is closed and members of objects begin with json_writer_key; the writer checks neither.
 */
#ifndef RENDER_JSON_WRITER_H
#define RENDER_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct json_tables;

struct json_writer {
	struct buffer *out;
	struct json_tables *tables; /* schema 2; NULL = write everything in place */
	bool follows; /* the next value follows a sibling */
};

/* Open with '{' or '[', close with '}' or ']'. */
void json_writer_open(struct json_writer *json, char bracket);
void json_writer_close(struct json_writer *json, char bracket);
/* The name of the next value. */
void json_writer_key(struct json_writer *json, const char *key);
/*
 * Untrusted text: characters that text_rune_is_unsafe names are written as \uNNNN, bytes that are not valid UTF-8
 * as U+FFFD. NULL gives null.
 */
void json_writer_string(struct json_writer *json, const char *text);
void json_writer_integer(struct json_writer *json, uint64_t number);
void json_writer_signed(struct json_writer *json, int64_t number);
/* Nanoseconds as an exact number of seconds: 1500000000 -> 1.5 */
void json_writer_seconds(struct json_writer *json, uint64_t ns);
void json_writer_bool(struct json_writer *json, bool value);
void json_writer_null(struct json_writer *json);

#endif
