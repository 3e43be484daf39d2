/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes, times and counts. The expected values are worked out by hand or by numfmt(1) and bc(1). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/units.h"

#define UNTOUCHED 0xdeadULL

static void test_parse_size(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "0", 0 },
		{ "64", 64 },
		{ "64k", 65536 },
		{ "64K", 65536 },
		{ "1m", 1048576 },
		{ "2G", 2147483648 },
		{ "1t", 1099511627776 },
		{ "18446744073709551615", UINT64_MAX },
		{ "16777215t", 18446742974197923840ULL },
		{ "007k", 7168 },
	};
	static const char *const bad[] = {
		"",	     "k",  "-1",    "+1",  " 1",  "1 ",	  "1.5k",
		"1kb",	     "1b", "1kk",   "0x1", "1\n", "1KiB", "18446744073709551616",
		"16777216t", "1p", "1\xcb",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t bytes = UNTOUCHED;

		assert_true(units_parse_size(good[i].text, &bytes));
		assert_int_equal(bytes, good[i].bytes);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t bytes = UNTOUCHED;

		if (units_parse_size(bad[i], &bytes))
			fail_msg("took \"%s\"", bad[i]);
		assert_int_equal(bytes, UNTOUCHED);
	}
}

static const struct {
	const char *text;
	uint64_t ns;
} good_times[] = {
	{ "0", 0 },
	{ "10", 10000000000 },
	{ "1.5", 1500000000 },
	{ "100ns", 100 },
	{ "250us", 250000 },
	{ "500ms", 500000000 },
	{ "10s", 10000000000 },
	{ "1.5s", 1500000000 },
	{ "0.000000001s", 1 },
	{ "0.5ns", 0 },
	{ "0.1m", 6000000000 },
	{ "5m", 300000000000 },
	{ "2h", 7200000000000 },
	{ "1d", 86400000000000 },
	{ "213503d", 18446659200000000000ULL },
	{ "18446744073.709551615s", UINT64_MAX },
};
static const char *const bad_times[] = {
	"",
	"s",
	"-1s",
	"+1s",
	" 1s",
	"1s ",
	"1 s",
	".5s",
	"1.s",
	"1.",
	"1.5.5",
	"1e3",
	"1S",
	"1sec",
	"1msx",
	"213504d",
	"18446744073.709551616s",
	"1.0000000001s",
	"99999999999999999999",
	"inf",
	"nan",
	"1m30s",
};

static void test_parse_time(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good_times) / sizeof(good_times[0]); i++) {
		uint64_t ns = UNTOUCHED;

		assert_true(units_parse_time(good_times[i].text, &ns));
		assert_int_equal(ns, good_times[i].ns);
	}
	for (i = 0; i < sizeof(bad_times) / sizeof(bad_times[0]); i++) {
		uint64_t ns = UNTOUCHED;

		if (units_parse_time(bad_times[i], &ns))
			fail_msg("took \"%s\"", bad_times[i]);
		assert_int_equal(ns, UNTOUCHED);
	}
}

static void test_parse_number(void **state)
{
	uint64_t number = UNTOUCHED;

	(void)state;
	assert_true(units_parse_number("127", 127, &number));
	assert_int_equal(number, 127);
	assert_true(units_parse_number("18446744073709551615", UINT64_MAX, &number));
	assert_int_equal(number, UINT64_MAX);
	number = UNTOUCHED;
	assert_false(units_parse_number("128", 127, &number));
	assert_false(units_parse_number("", 127, &number));
	assert_false(units_parse_number("-1", UINT64_MAX, &number));
	assert_false(units_parse_number("1k", UINT64_MAX, &number));
	assert_false(units_parse_number("18446744073709551616", UINT64_MAX, &number));
	assert_int_equal(number, UNTOUCHED);
}

static void test_format_size(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		{ 51200000, "48.8 MiB" },
		{ 1048524, "1023.9 KiB" },
		{ 1048575, "1.0 MiB" },
		{ 1073741823, "1.0 GiB" },
		{ 5497558138880, "5.0 TiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char text[UNITS_TEXT_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(units_format_size(rows[i].bytes, text), rows[i].text);
}

static void test_format_count(void **state)
{
	char text[UNITS_TEXT_MAX];

	(void)state;
	assert_string_equal(units_format_count(0, text), "0");
	assert_string_equal(units_format_count(999, text), "999");
	assert_string_equal(units_format_count(1000, text), "1,000");
	assert_string_equal(units_format_count(51200000, text), "51,200,000");
	assert_string_equal(units_format_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void test_format_time(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0 s" },
		{ 99, "99 ns" },
		{ 1500, "1.5 us" },
		{ 400000, "0.4 ms" },
		{ 40000000, "40.0 ms" },
		{ 1500000000, "1.5 s" },
		{ 59949999999, "59.9 s" },
		{ 59950000000, "1m00s" },
		{ 90000000000, "1m30s" },
		{ 3599400000000, "59m59s" },
		{ 3600000000000, "1h00m" },
		{ 7500000000000, "2h05m" },
		{ 86400000000000, "1d00h" },
		{ 300000000000000, "3d11h" },
		{ UINT64_MAX, "213503d23h" },
	};
	char text[UNITS_TEXT_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(units_format_time(rows[i].ns, text), rows[i].text);
}

static void test_parse_rate(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes, ns;
	} good[] = {
		{ "10m/min", 10485760, 60000000000 },	   { "10m/m", 10485760, 60000000000 },
		{ "1G/h", 1073741824, 3600000000000 },	   { "1/s", 1, 1000000000 },
		{ "512k/30s", 524288, 30000000000 },	   { "2g/1.5h", 2147483648, 5400000000000 },
		{ "3t/d", 3298534883328, 86400000000000 }, { "7/2", 7, 2000000000 },
	};
	static const char *const bad[] = {
		"",
		"/",
		"10m",
		"10m/",
		"/min",
		"10m/0s",
		"0/s",
		"-1/s",
		"1/-1s",
		"10m/ min",
		"10 m/min",
		"10m/mins",
		"10m/2min",
		"10m//s",
		"1.5m/s",
		"10mb/min",
		"10m/s/s",
		"10m/week",
		"18446744073709551616/s",
		"00000000000000000000000000000000001/s",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t bytes = UNTOUCHED, ns = UNTOUCHED;

		assert_true(units_parse_rate(good[i].text, &bytes, &ns));
		assert_int_equal(bytes, good[i].bytes);
		assert_int_equal(ns, good[i].ns);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t bytes = UNTOUCHED, ns = UNTOUCHED;

		if (units_parse_rate(bad[i], &bytes, &ns))
			fail_msg("took \"%s\"", bad[i]);
		assert_int_equal(bytes, UNTOUCHED);
		assert_int_equal(ns, UNTOUCHED);
	}
}

static void test_nouns(void **state)
{
	(void)state;
	assert_string_equal(units_s(0), "s");
	assert_string_equal(units_s(1), "");
	assert_string_equal(units_s(2), "s");
	assert_string_equal(units_s(UINT64_MAX), "s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_rate),  cmocka_unit_test(test_parse_size),
		cmocka_unit_test(test_parse_time),  cmocka_unit_test(test_parse_number),
		cmocka_unit_test(test_format_size), cmocka_unit_test(test_format_count),
		cmocka_unit_test(test_format_time), cmocka_unit_test(test_nouns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
