/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cutting, padding and wrapping by terminal columns: see columns.h. */
#include "render/columns.h"

#include <string.h>

#include "base/text.h"

#define DOTS "..."
#define DOTS_WIDTH (sizeof(DOTS) - 1)

/* The columns of the character at `text`, which is safe, and where the next one begins. */
static size_t columns_next(const char **text)
{
	unsigned int rune = 0;
	size_t length = text_decode_utf8(*text, &rune);

	*text += length ? length : 1;
	return text_rune_width(rune);
}

/* The longest start of `text` that fits `width`, in bytes. */
static size_t columns_fit(const char *text, size_t width)
{
	const char *at = text;
	const char *end = text;
	size_t used = 0;

	while (*at) {
		used += columns_next(&at);
		if (used > width)
			break;
		end = at;
	}
	return (size_t)(end - text);
}

size_t columns_append_start(struct buffer *out, const char *text, size_t width)
{
	struct buffer safe = { 0 };
	size_t used;

	text_append_safe(&safe, text);
	used = safe.data ? text_width(safe.data) : 0;
	if (used <= width) {
		buffer_append(out, safe.data, safe.length);
	} else if (width <= DOTS_WIDTH) {
		buffer_append(out, DOTS, used = width);
	} else {
		size_t start = out->length;

		buffer_append(out, safe.data, columns_fit(safe.data, width - DOTS_WIDTH));
		buffer_append_string(out, DOTS);
		used = text_width(out->data + start);
	}
	buffer_free(&safe);
	return used;
}

size_t columns_append_end(struct buffer *out, const char *text, size_t width)
{
	struct buffer safe = { 0 };
	const char *at;
	size_t used;

	text_append_safe(&safe, text);
	at = safe.data;
	used = at ? text_width(at) : 0;
	if (used <= width) {
		buffer_append(out, safe.data, safe.length);
	} else if (width <= DOTS_WIDTH) {
		buffer_append(out, DOTS, used = width);
	} else {
		while (used > width - DOTS_WIDTH)
			used -= columns_next(&at);
		buffer_append_string(out, DOTS);
		buffer_append_string(out, at);
		used += DOTS_WIDTH;
	}
	buffer_free(&safe);
	return used;
}

void columns_pad(struct buffer *out, size_t used, size_t width)
{
	for (; used < width; used++)
		buffer_append_string(out, " ");
}

/* Where to break `text` so that the first part fits: behind the last word that does, or mid-word. */
static size_t columns_break(const char *text, size_t width)
{
	size_t fit = columns_fit(text, width);
	size_t at = fit;

	if (!text[fit])
		return fit;
	while (at && text[at] != ' ')
		at--;
	while (at && text[at - 1] == ' ')
		at--;
	if (at)
		return at;
	return fit ? fit : 1;
}

void columns_wrap(struct buffer *out, const char *text, size_t width, size_t indent)
{
	struct buffer safe = { 0 };
	const char *at;
	size_t used = 0;

	text_append_safe(&safe, text);
	at = safe.data ? safe.data : "";
	do {
		size_t length = columns_break(at, width - used);

		buffer_append(out, at, length);
		buffer_append_string(out, "\n");
		at += length;
		at += strspn(at, " ");
		if (*at)
			columns_pad(out, 0, indent);
		used = indent;
	} while (*at);
	buffer_free(&safe);
}

size_t columns_of(const char *text)
{
	struct buffer safe = { 0 };
	size_t width;

	text_append_safe(&safe, text);
	width = safe.data ? text_width(safe.data) : 0;
	buffer_free(&safe);
	return width;
}
