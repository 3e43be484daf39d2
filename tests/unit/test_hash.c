/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a against the values that its authors publish for 64 bits; the hash of words against its definition. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"

static void test_fnv(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} known[] = {
		{ "", 0xcbf29ce484222325 },
		{ "a", 0xaf63dc4c8601ec8c },
		{ "foobar", 0x85944171f73967e8 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *text = known[i].text;

		assert_int_equal(hash_string(HASH_BEGIN, text), known[i].hash);
		assert_int_equal(hash_bytes(HASH_BEGIN, text, strlen(text)), known[i].hash);
	}
}

/* Bytes above 127 are not negative, and a hash can be continued. */
static void test_bytes(void **state)
{
	const char *text = "\xff\x80 caf\xc3\xa9";

	(void)state;
	assert_int_equal(hash_string(HASH_BEGIN, text), hash_bytes(HASH_BEGIN, text, strlen(text)));
	assert_int_equal(hash_string(hash_string(HASH_BEGIN, "foo"), "bar"), 0x85944171f73967e8);
	assert_int_not_equal(hash_string(1, text), hash_string(2, text));
}

/* All orders of a few words differ, and so do runs of zeros of different lengths after a begin that is not 0. */
static void test_words(void **state)
{
	uint64_t zeros = 1, seen[64];
	size_t i, k;

	(void)state;
	assert_int_not_equal(hash_word(hash_word(1, 2), 3), hash_word(hash_word(1, 3), 2));
	for (i = 0; i < 64; i++) {
		seen[i] = zeros = hash_word(zeros, 0);
		for (k = 0; k < i; k++)
			assert_int_not_equal(seen[i], seen[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fnv),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
