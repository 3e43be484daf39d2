/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Untrusted text. The truth about UTF-8 and about widths is the C library's: mbrtowc() and wcwidth() in
 * the C.UTF-8 locale.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <cmocka.h>

#include "base/text.h"

static void assert_safe(const char *text, const char *expected)
{
	struct buffer out = { 0 };

	buffer_append_string(&out, "");
	text_append_safe(&out, text);
	assert_string_equal(out.data, expected);
	assert_int_equal(out.length, strlen(expected));
	buffer_free(&out);
}

static void test_safe(void **state)
{
	(void)state;
	assert_safe("", "");
	assert_safe("operator new(unsigned long)", "operator new(unsigned long)");
	assert_safe("a\tb\nc\rd", "a\\x09b\\x0ac\\x0dd");
	assert_safe("\033[31mred", "\\x1b[31mred");
	assert_safe("del\177", "del\\x7f");
	assert_safe("caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x9b",
		    "caf\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x9b");
	assert_safe("c1 \xc2\x9b", "c1 \\xc2\\x9b");
	assert_safe("rlo \xe2\x80\xae", "rlo \\xe2\\x80\\xae");
	assert_safe("lri \xe2\x81\xa6", "lri \\xe2\\x81\\xa6");
	assert_safe("ls \xe2\x80\xa8", "ls \\xe2\\x80\\xa8");
}

/* What is not seen makes two names look like one. */
static void test_safe_invisible(void **state)
{
	(void)state;
	assert_safe("zero\xe2\x80\x8bwidth", "zero\\xe2\\x80\\x8bwidth"); /* U+200B */
	assert_safe("\xef\xbb\xbfmain", "\\xef\\xbb\\xbfmain"); /* U+FEFF */
	assert_safe("soft\xc2\xadhyphen", "soft\\xc2\\xadhyphen");
	assert_safe("tag\xf3\xa0\x81\x81", "tag\\xf3\\xa0\\x81\\x81"); /* U+E0041 */
	assert_safe("select\xef\xb8\x8f", "select\\xef\\xb8\\x8f"); /* U+FE0F */
	/* Accents are seen, but not a pile of them. */
	assert_safe("e\xcc\x81\xcc\xa3", "e\xcc\x81\xcc\xa3");
	assert_safe("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81g\xcc\x81",
		    "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\xcc\\x81\\xcc\\x81g\xcc\x81");
	assert_safe("~a", "~a");
}

static void test_safe_invalid(void **state)
{
	(void)state;
	assert_safe("\xff\xfe", "\\xff\\xfe");
	assert_safe("\x80", "\\x80");
	assert_safe("overlong \xc0\xaf", "overlong \\xc0\\xaf");
	assert_safe("overlong \xe0\x80\xaf", "overlong \\xe0\\x80\\xaf");
	assert_safe("surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80");
	assert_safe("beyond \xf4\x90\x80\x80", "beyond \\xf4\\x90\\x80\\x80");
	assert_safe("cut \xe6\x97", "cut \\xe6\\x97");
	assert_safe("cut \xc3(", "cut \\xc3(");
}

/*
 * Decode random bytes, half of them from the range where sequences live, as the C library does. It also
 * takes sequences beyond U+10FFFF, which RFC 3629 ended.
 */
static void test_decode_like_libc(void **state)
{
	unsigned int seed = 1;
	int round;

	(void)state;
	for (round = 0; round < 300000; round++) {
		char text[6] = { 0 };
		mbstate_t shift = { 0 };
		unsigned int rune = 12345;
		size_t expected, i;
		wchar_t wide = 0;

		for (i = 0; i < 5; i++)
			text[i] = (char)(rand_r(&seed) % 2 ? 0x80 + rand_r(&seed) % 0x80
							   : rand_r(&seed) % 0x100);
		expected = mbrtowc(&wide, text, strlen(text), &shift);
		if (!text[0] || expected == (size_t)-1 || expected == (size_t)-2 ||
		    wide > 0x10ffff) {
			assert_int_equal(text_decode_utf8(text, &rune), 0);
			assert_int_equal(rune, 12345);
		} else {
			assert_int_equal(text_decode_utf8(text, &rune), expected);
			assert_int_equal(rune, wide);
		}
	}
}

static void test_decode_every_rune(void **state)
{
	wchar_t wide;

	(void)state;
	for (wide = 1; wide <= 0x10ffff; wide++) {
		char text[MB_LEN_MAX + 1] = { 0 };
		mbstate_t shift = { 0 };
		size_t length = wcrtomb(text, wide, &shift);
		unsigned int rune = 0;

		if (length == (size_t)-1)
			continue;
		assert_int_equal(text_decode_utf8(text, &rune), length);
		assert_int_equal(rune, wide);
	}
}

static void test_width_is_never_too_small(void **state)
{
	wchar_t wide;

	(void)state;
	for (wide = 0x20; wide <= 0x10ffff; wide++)
		if (!text_rune_is_unsafe((unsigned int)wide) &&
		    (int)text_rune_width((unsigned int)wide) < wcwidth(wide))
			fail_msg("U+%04X", (unsigned int)wide);
	assert_int_equal(text_width("caf\xc3\xa9"), 4);
	assert_int_equal(text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
	assert_int_equal(text_width(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_safe),
		cmocka_unit_test(test_safe_invisible),
		cmocka_unit_test(test_safe_invalid),
		cmocka_unit_test(test_decode_like_libc),
		cmocka_unit_test(test_decode_every_rune),
		cmocka_unit_test(test_width_is_never_too_small),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
