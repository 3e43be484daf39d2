/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON values: see json_writer.h. */
#include "render/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define REPLACEMENT_CHARACTER "\xef\xbf\xbd"

static void json_writer_separate(struct json_writer *json)
{
	if (json->follows)
		buffer_append_string(json->out, ",");
	json->follows = true;
}

void json_writer_open(struct json_writer *json, char bracket)
{
	json_writer_separate(json);
	buffer_append(json->out, &bracket, 1);
	json->follows = false;
}

void json_writer_close(struct json_writer *json, char bracket)
{
	buffer_append(json->out, &bracket, 1);
	json->follows = true;
}

static void json_writer_append_rune(struct buffer *out, const char *bytes, size_t length,
				    unsigned int rune)
{
	if (text_rune_is_unsafe(rune)) {
		/* Beyond the first plane by two surrogates. */
		if (rune > 0xffff)
			buffer_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (rune >> 10),
				      0xdc00 + (rune & 0x3ff));
		else
			buffer_printf(out, "\\u%04x", rune);
		return;
	}
	if (rune == '"' || rune == '\\')
		buffer_append_string(out, "\\");
	buffer_append(out, bytes, length);
}

/* How many characters at the start of `text` are written as they are: most of a report. */
static size_t json_writer_plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

static void json_writer_append_quoted(struct buffer *out, const char *text)
{
	unsigned int rune;
	size_t length;

	buffer_append_string(out, "\"");
	for (; *text; text += length) {
		length = json_writer_plain_length(text);
		if (length) {
			buffer_append(out, text, length);
			continue;
		}
		length = text_decode_utf8(text, &rune);
		if (length) {
			json_writer_append_rune(out, text, length, rune);
			continue;
		}
		buffer_append_string(out, REPLACEMENT_CHARACTER);
		length = 1;
	}
	buffer_append_string(out, "\"");
}

void json_writer_key(struct json_writer *json, const char *key)
{
	json_writer_separate(json);
	json_writer_append_quoted(json->out, key);
	buffer_append_string(json->out, ":");
	json->follows = false;
}

void json_writer_string(struct json_writer *json, const char *text)
{
	if (!text) {
		json_writer_null(json);
		return;
	}
	json_writer_separate(json);
	json_writer_append_quoted(json->out, text);
}

void json_writer_integer(struct json_writer *json, uint64_t number)
{
	json_writer_separate(json);
	buffer_printf(json->out, "%" PRIu64, number);
}

void json_writer_signed(struct json_writer *json, int64_t number)
{
	json_writer_separate(json);
	buffer_printf(json->out, "%" PRId64, number);
}

void json_writer_seconds(struct json_writer *json, uint64_t ns)
{
	json_writer_separate(json);
	buffer_printf(json->out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	while (json->out->data[json->out->length - 1] == '0' &&
	       json->out->data[json->out->length - 2] != '.')
		json->out->data[--json->out->length] = '\0';
}

void json_writer_bool(struct json_writer *json, bool value)
{
	json_writer_separate(json);
	buffer_append_string(json->out, value ? "true" : "false");
}

void json_writer_null(struct json_writer *json)
{
	json_writer_separate(json);
	buffer_append_string(json->out, "null");
}
