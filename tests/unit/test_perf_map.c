/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps of JIT compilers. Truth is what was written into the file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/perf_map.h"

#define LINES 300000u

static FILE *file;
static struct perf_map *map;

static int start(void **state)
{
	(void)state;
	file = tmpfile();
	assert_non_null(file);
	map = perf_map_new(dup(fileno(file)), LINES);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	perf_map_free(map);
	perf_map_free(NULL);
	fclose(file);
	return 0;
}

static void say(const char *text)
{
	fputs(text, file);
	fflush(file);
}

static void check(uint64_t address, const char *expected)
{
	char name[PERF_MAP_NAME_MAX] = "";

	assert_int_equal(perf_map_find(map, address, name), expected != NULL);
	if (expected)
		assert_string_equal(name, expected);
}

static void test_find(void **state)
{
	(void)state;
	check(0x1000, NULL);
	say("1000 10 first\n7f6178023400 378 JS:~leak /app/leak.js:2:21\n0x2000 0x20 with 0x\n");
	check(0xfff, NULL);
	check(0x1000, "first");
	check(0x100f, "first");
	check(0x1010, NULL);
	check(0x7f6178023500, "JS:~leak /app/leak.js:2:21");
	check(0x201f, "with 0x");
}

/* What is written later is seen, in whole lines only, and counts more. */
static void test_grow(void **state)
{
	(void)state;
	say("1000 100 old\n");
	check(0x1010, "old");
	say("1000 20 ne");
	check(0x1010, "old");
	say("wer\n");
	check(0x1010, "newer");
	check(0x1020, "old");
	say("f00 200 around\n");
	check(0x1010, "around");
	check(0x10ff, "around");
	say("1080 8 within\n");
	check(0x1084, "within");
	check(0x1088, "around");
}

static void test_begun_anew(void **state)
{
	(void)state;
	say("1000 100 old program\n2000 100 another\n");
	check(0x2000, "another");
	assert_int_equal(ftruncate(fileno(file), 0), 0);
	rewind(file);
	say("3000 10 new\n");
	check(0x3000, "new");
	check(0x1000, NULL);
}

static void test_rubbish(void **state)
{
	char name[PERF_MAP_NAME_MAX * 2];

	(void)state;
	say("\n \nxyz\n1000\n1000 10\n1000 10 \n 1000 10 early\n-1000 10 sign\n1000 0 nothing\n");
	say("11112222333344445 10 too long\nffffffffffffffff ff overflow\n1000 g0 letters\n");
	check(0x1000, NULL);
	check(UINT64_MAX, NULL);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	fprintf(file, "1000 10 %s\n", name);
	name[PERF_MAP_NAME_MAX - 1] = '\0';
	say("");
	check(0x1000, name);
	fprintf(file, "2000 10 %0100000d\n3000 10 after\n", 1);
	say("");
	check(0x3000, "after");
}

/* Many entries, some of them several times: each address has its last name. */
static void test_many(void **state)
{
	static uint32_t names[5000];
	char expected[32];
	uint32_t i, at;

	(void)state;
	srand(1);
	for (i = 1; i <= 20000; i++) {
		at = (uint32_t)rand() % 5000;
		names[at] = i;
		fprintf(file, "%" PRIx32 " 10 name%" PRIu32 "\n", 0x100000 + at * 16, i);
		if (i % 1000)
			continue;
		say("");
		for (at = 0; at < 5000; at += 37) {
			snprintf(expected, sizeof(expected), "name%" PRIu32, names[at]);
			check(0x100000 + at * 16 + 7, names[at] ? expected : NULL);
		}
	}
	assert_false(perf_map_is_cut(map));
}

/* Of a file that never ends, so much is read and no more, and it is said. */
static void test_too_large(void **state)
{
	(void)state;
	fprintf(file, "1000 10 first\n");
	say("");
	check(0x1000, "first");
	assert_false(perf_map_is_cut(map));
	assert_int_equal(ftruncate(fileno(file), 1 << 30), 0);
	check(0x1000, "first");
	assert_true(perf_map_is_cut(map));
}

/* Written anew again and again: it is read anew a few times. */
static void test_written_for_ever(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(ftruncate(fileno(file), 0), 0);
		check(0x1000, NULL);
		assert_int_equal(ftruncate(fileno(file), 200 << 20), 0);
		check(0x1000, NULL);
		assert_int_equal(perf_map_is_cut(map), i >= 2);
	}
}

/* As many lines as are kept, in no order, and more. */
static void test_many_in_no_order(void **state)
{
	uint64_t at = 1, i;
	char expected[32];

	(void)state;
	for (i = 0; i < LINES + 1000; i++) {
		at = at * 5 % 1048583; /* a prime: no number comes twice */
		fprintf(file, "%" PRIx64 " 10 name%" PRIu64 "\n", at * 16, at);
	}
	say("");
	for (i = 0, at = 1; i < LINES; i++) {
		at = at * 5 % 1048583;
		snprintf(expected, sizeof(expected), "name%" PRIu64, at);
		if (i % 997 == 0)
			check(at * 16 + 5, expected);
	}
	check(at * 5 % 1048583 * 16, NULL);
	assert_true(perf_map_is_cut(map));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, start, finish),
		cmocka_unit_test_setup_teardown(test_grow, start, finish),
		cmocka_unit_test_setup_teardown(test_begun_anew, start, finish),
		cmocka_unit_test_setup_teardown(test_rubbish, start, finish),
		cmocka_unit_test_setup_teardown(test_many, start, finish),
		cmocka_unit_test_setup_teardown(test_too_large, start, finish),
		cmocka_unit_test_setup_teardown(test_written_for_ever, start, finish),
		cmocka_unit_test_setup_teardown(test_many_in_no_order, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
