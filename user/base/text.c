/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Untrusted text made safe, and how wide it is on a terminal: see text.h. */
#include "base/text.h"

#include <string.h>

/* Over one character: no language has more. */
#define MARKS_MAX 4

static bool text_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* How long the sequence that `lead` begins is, and the bits that the lead itself gives; 0 = no lead. */
static size_t text_sequence_length(unsigned char lead, unsigned int *ret_bits)
{
	if (lead && lead < 0x80) {
		*ret_bits = lead;
		return 1;
	}
	if (lead >= 0xc2 && lead <= 0xdf) {
		*ret_bits = lead & 0x1f;
		return 2;
	}
	if (lead >= 0xe0 && lead <= 0xef) {
		*ret_bits = lead & 0x0f;
		return 3;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*ret_bits = lead & 0x07;
		return 4;
	}
	return 0;
}

size_t text_decode_utf8(const char *text, unsigned int *ret_rune)
{
	static const unsigned int smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int rune;
	size_t length = text_sequence_length((unsigned char)text[0], &rune);
	size_t i;

	for (i = 1; i < length; i++) {
		if (!text_is_continuation(text[i]))
			return 0;
		rune = rune << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (!length || rune < smallest[length] || rune > 0x10ffff ||
	    (rune >= 0xd800 && rune <= 0xdfff))
		return 0;
	*ret_rune = rune;
	return length;
}

struct text_range {
	unsigned int first, last;
};

static bool text_in_ranges(unsigned int rune, const struct text_range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rune >= ranges[i].first && rune <= ranges[i].last)
			return true;
	return false;
}

bool text_rune_is_unsafe(unsigned int rune)
{
	static const struct text_range unsafe[] = {
		{ 0x00, 0x1f }, /* controls */
		{ 0x7f, 0x9f }, /* DEL, C1 controls */
		{ 0x00ad, 0x00ad }, /* soft hyphen */
		{ 0x034f, 0x034f }, /* grapheme joiner */
		{ 0x061c, 0x061c }, /* Arabic letter mark */
		{ 0x115f, 0x1160 }, /* Hangul fillers */
		{ 0x17b4, 0x17b5 }, /* Khmer inherent vowels */
		{ 0x180b, 0x180f }, /* Mongolian selectors */
		{ 0x200b, 0x200f }, /* zero width; left-to-right and right-to-left marks */
		{ 0x2028, 0x202e }, /* line and paragraph separators, embeddings and overrides */
		{ 0x2060, 0x206f }, /* joiner, invisible operators, isolates */
		{ 0x3164, 0x3164 }, /* Hangul filler */
		{ 0xfe00, 0xfe0f }, /* variation selectors */
		{ 0xfeff, 0xfeff }, /* byte order mark */
		{ 0xffa0, 0xffa0 }, /* Hangul filler, halfwidth */
		{ 0xfff0, 0xfffb }, /* annotations */
		{ 0x1bca0, 0x1bca3 }, /* shorthand format controls */
		{ 0x1d173, 0x1d17a }, /* musical format controls */
		{ 0xe0000, 0xe0fff }, /* tags, more variation selectors */
	};

	return text_in_ranges(rune, unsafe, sizeof(unsafe) / sizeof(unsafe[0]));
}

/* Is it drawn over the character before? Only of the blocks with marks that any letter takes. */
static bool text_rune_is_mark(unsigned int rune)
{
	static const struct text_range marks[] = {
		{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
		{ 0x064b, 0x065f }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff },
		{ 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff }, { 0xfe20, 0xfe2f },
	};

	return text_in_ranges(rune, marks, sizeof(marks) / sizeof(marks[0]));
}

static void text_append_escaped(struct buffer *buffer, const char *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		buffer_printf(buffer, "\\x%02x", (unsigned char)bytes[i]);
}

void text_append_safe(struct buffer *buffer, const char *text)
{
	unsigned int rune, marks = 0;
	size_t length;

	for (; *text; text += length) {
		length = text_decode_utf8(text, &rune);
		marks = length && text_rune_is_mark(rune) ? marks + 1 : 0;
		if (length && !text_rune_is_unsafe(rune) && marks <= MARKS_MAX)
			buffer_append(buffer, text, length);
		else
			text_append_escaped(buffer, text, length = length ? length : 1);
	}
}

size_t text_rune_width(unsigned int rune)
{
	static const struct text_range narrow[] = {
		{ 0x0020, 0x10ff }, /* Latin to Georgian */
		{ 0x1e00, 0x1fff }, /* Latin and Greek, extended */
		{ 0x2010, 0x2027 }, /* dashes, quotes, bullets, the ellipsis */
		{ 0x2190, 0x21ff }, /* arrows */
		{ 0x2500, 0x257f }, /* box drawing */
	};

	return text_in_ranges(rune, narrow, sizeof(narrow) / sizeof(narrow[0])) ? 1 : 2;
}

size_t text_width(const char *text)
{
	unsigned int rune;
	size_t width = 0;
	size_t length;

	for (; *text; text += length) {
		length = text_decode_utf8(text, &rune);
		width += length ? text_rune_width(rune) : 1;
		length += !length;
	}
	return width;
}
