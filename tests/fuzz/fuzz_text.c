/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes through text_append_safe and the cutting to columns: the result is valid UTF-8 (says iconv(),
 * which shares no code with ours), has no control character, and is no wider than asked.
 */
#include <iconv.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "render/columns.h"

static int fuzz_is_unsafe(uint32_t rune)
{
	return rune < 0x20 || (rune >= 0x7f && rune <= 0x9f) || rune == 0x61c || rune == 0x200e ||
	       rune == 0x200f || (rune >= 0x2028 && rune <= 0x202e) ||
	       (rune >= 0x2066 && rune <= 0x2069);
}

static void fuzz_check(struct buffer *text)
{
	iconv_t conversion = iconv_open("UTF-32LE", "UTF-8");
	char *in = text->data, *out;
	size_t in_left = text->length, out_left = 4 * text->length;
	uint32_t *runes = malloc(out_left + 4);
	size_t i, count;

	out = (char *)runes;
	MUST(conversion != (iconv_t)-1 && !iconv(conversion, &in, &in_left, &out, &out_left) &&
	     !in_left);
	count = (size_t)(out - (char *)runes) / 4;
	for (i = 0; i < count; i++)
		MUST(!fuzz_is_unsafe(runes[i]));
	free(runes);
	iconv_close(conversion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer out = { 0 };
	size_t width = size ? data[0] : 0;
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	buffer_append_string(&out, "");
	text_append_safe(&out, text);
	fuzz_check(&out);
	buffer_clear(&out);
	MUST(columns_append_start(&out, text, width) <= width && text_width(out.data) <= width);
	fuzz_check(&out);
	buffer_clear(&out);
	MUST(columns_append_end(&out, text, width) <= width && text_width(out.data) <= width);
	fuzz_check(&out);
	free(text);
	buffer_free(&out);
	return 0;
}
