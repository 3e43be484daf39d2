/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the text format share: see text_style.h. */
#include "render/text_style.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

const char *text_style_code(enum text_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m",	[STYLE_STRONG] = "\033[1m",
		[STYLE_QUIET] = "\033[2m",	[STYLE_WARNING] = "\033[33m",
		[STYLE_CULPRIT] = "\033[1;31m",
	};

	return codes[style];
}

void text_style_set(const struct text_writer *writer, enum text_style style)
{
	if (writer->color)
		buffer_append_string(writer->out, text_style_code(style));
}

const char *text_format_count(uint64_t count, char *text)
{
	static const char letters[] = "GTPE";
	uint64_t tenths = count / 100000000;
	const char *letter = letters;

	if (count < 1000000000)
		return units_format_count(count, text);
	for (; tenths >= 10000; tenths /= 1000)
		letter++;
	snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %c", tenths / 10, tenths % 10,
		 *letter);
	return text;
}

const char *text_approximate(char *text, bool sampled)
{
	if (sampled) {
		memmove(text + 1, text, strlen(text) + 1);
		*text = '~';
	}
	return text;
}

const char *text_format_growth(int64_t bytes, char *text)
{
	if (!bytes)
		return strcpy(text, "0");
	*text = bytes < 0 ? '-' : '+';
	units_format_size(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, text + 1);
	return text;
}

const char *text_format_limits(const struct estimate *growth, char *text)
{
	char value[UNITS_TEXT_MAX + 1], low[UNITS_TEXT_MAX + 1], high[UNITS_TEXT_MAX + 1];

	text_format_growth(estimate_bytes(growth->value), value);
	text_format_growth(estimate_bytes(growth->low), low);
	text_format_growth(estimate_bytes(growth->high), high);
	snprintf(text, TEXT_LIMITS_MAX, "~%s (%s to %s)", value, low, high);
	return text;
}

size_t text_count_lines(const struct buffer *text, size_t from)
{
	size_t count = 0, i;

	for (i = from; i < text->length; i++)
		count += text->data[i] == '\n';
	return count;
}
