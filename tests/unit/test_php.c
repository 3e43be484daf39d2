/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PHP's layouts and names. Truth are the offsets that PHP's headers give, by version, and memory that is made by hand; real
 * ones are the matter of test_interp_live.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "php/php_name.h"

#define BASE 0x10000ull
#define GLOBALS 0u
#define CALLS 0x400u
#define MAIN 0x600u
#define INTERNAL 0x800u
#define OPS 0xa00u
#define FILENAME 0xc00u
#define NAME 0xe00u
#define CLASS 0x1000u
#define CLASS_NAME 0x1100u
#define STACK 0x1200u

static uint8_t bytes[0x2000];

static bool fake_read(void *context, uint64_t address, void *to, size_t size)
{
	uint64_t offset = address - BASE;

	(void)context;
	if (offset > sizeof(bytes) || size > sizeof(bytes) - offset)
		return false;
	memcpy(to, bytes + offset, size);
	return true;
}

static const struct target_memory memory = { .read = fake_read };

static void put(uint32_t at, uint64_t word)
{
	memcpy(bytes + at, &word, sizeof(word));
}

static void put_text(uint32_t at, const char *text, size_t length)
{
	put(at + PHP_STRING_LENGTH, length);
	memcpy(bytes + at + PHP_STRING_BYTES, text, length);
}

/* The main program at the third of five instructions, which has called an internal method. */
static const struct php_layout *make(const char *version)
{
	const struct php_layout *layout = php_layout_find(version);
	uint32_t current;

	assert_non_null(layout);
	current = GLOBALS + layout->walk.current;
	memset(bytes, 0, sizeof(bytes));
	put(current - 32, BASE + STACK + 0x100);
	put(current - 24, BASE + STACK + (1u << 18));
	put(current - 16, BASE + STACK);
	put(current - 8, 1u << 18);
	put(current, BASE + CALLS);
	put(CALLS + PHP_FRAME_FUNCTION, BASE + INTERNAL);
	put(CALLS + PHP_FRAME_PREVIOUS, BASE + CALLS + 0x80);
	put(CALLS + 0x80 + PHP_FRAME_FUNCTION, BASE + MAIN);
	put(CALLS + 0x80 + PHP_FRAME_OPLINE, BASE + OPS + 2 * PHP_OP_BYTES);
	put(INTERNAL, PHP_INTERNAL_FUNCTION);
	put(INTERNAL + PHP_FUNCTION_NAME, BASE + NAME);
	put(INTERNAL + PHP_FUNCTION_SCOPE, BASE + CLASS);
	put(CLASS + PHP_CLASS_NAME, BASE + CLASS_NAME);
	put(MAIN, PHP_USER_FUNCTION);
	put(MAIN + layout->walk.filename, BASE + FILENAME);
	put(MAIN + layout->op_count, 5);
	put(MAIN + layout->ops, BASE + OPS);
	put_text(FILENAME, "/srv/index.php", 14);
	put_text(NAME, "method", 6);
	put_text(CLASS_NAME, "Class", 5);
	return layout;
}

/* offsetof() with the headers of each version. */
static void test_layouts(void **state)
{
	static const struct {
		const char *version;
		unsigned int current, filename, count, ops;
	} golden[] = {
		{ "8.0", 488, 144, 68, 72 },  { "8.1", 488, 144, 68, 72 },
		{ "8.2", 488, 152, 80, 88 },  { "8.3", 488, 144, 76, 80 },
		{ "8.4", 488, 168, 96, 104 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		const struct php_layout *layout = php_layout_find(golden[i].version);

		assert_non_null(layout);
		assert_int_equal(layout->walk.current, golden[i].current);
		assert_int_equal(layout->walk.filename, golden[i].filename);
		assert_int_equal(layout->op_count, golden[i].count);
		assert_int_equal(layout->ops, golden[i].ops);
		make(golden[i].version);
		assert_true(php_layout_is_state(layout, &memory, BASE + GLOBALS));
		assert_true(php_layout_check(layout, &memory, BASE + GLOBALS));
	}
	assert_null(php_layout_find(""));
	assert_null(php_layout_find("7.4"));
	assert_null(php_layout_find("8.9"));
	assert_null(php_layout_find("8.2-"));
}

/* Frames of one layout, read with another one, are refused. */
static void test_wrong_layouts(void **state)
{
	static const char *const versions[] = { "8.1", "8.2", "8.3", "8.4" };
	size_t made, asked;

	(void)state;
	for (made = 0; made < 4; made++) {
		make(versions[made]);
		for (asked = 0; asked < 4; asked++)
			assert_int_equal(php_layout_check(php_layout_find(versions[asked]), &memory,
							  BASE + GLOBALS),
					 asked == made);
	}
}

/* What is no stack of PHP's: nothing yet, pages of a strange size, a top outside of it. */
static void test_no_state(void **state)
{
	static const struct {
		int at;
		uint64_t word;
	} changes[] = { { -32, BASE },
			{ -32, BASE + STACK + (1u << 18) + 8 },
			{ -24, BASE + STACK },
			{ -24, BASE + STACK + 100 },
			{ -16, 0 },
			{ -16, BASE + STACK + 4 },
			{ -8, 0 },
			{ -8, 3u << 16 },
			{ -8, 1ull << 40 },
			{ 0, BASE + CALLS + 1 } };
	const struct php_layout *layout = make("8.2");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		make("8.2");
		put((uint32_t)((int)layout->walk.current + changes[i].at), changes[i].word);
		assert_false(php_layout_is_state(layout, &memory, BASE + GLOBALS));
	}
	memset(bytes, 0, sizeof(bytes));
	assert_false(php_layout_is_state(layout, &memory, BASE + GLOBALS));
	assert_false(php_layout_is_state(layout, &memory, 0));
	/* Between requests there is no call. */
	make("8.2");
	put(layout->walk.current, 0);
	assert_true(php_layout_is_state(layout, &memory, BASE + GLOBALS));
	assert_true(php_layout_check(layout, &memory, BASE + GLOBALS));
}

/* One wrong word each, of calls, functions and strings. */
static void test_no_sense(void **state)
{
	static const struct {
		uint32_t at;
		uint64_t word;
	} changes[] = {
		{ CALLS + PHP_FRAME_PREVIOUS, 0x1230 },
		{ CALLS + PHP_FRAME_PREVIOUS, BASE + CALLS + 0x81 },
		{ CALLS + PHP_FRAME_FUNCTION, 0x1230 },
		{ CALLS + PHP_FRAME_FUNCTION, BASE + OPS },
		{ CALLS + 0x80 + PHP_FRAME_OPLINE, 0 },
		{ CALLS + 0x80 + PHP_FRAME_OPLINE, BASE + OPS + 5 * PHP_OP_BYTES },
		{ CALLS + 0x80 + PHP_FRAME_OPLINE, BASE + OPS + 8 },
		{ MAIN, 3 },
		{ MAIN + 152, 0 },
		{ MAIN + 80, 0 },
		{ FILENAME + PHP_STRING_LENGTH, 0 },
		{ FILENAME + PHP_STRING_LENGTH, 1ull << 40 },
		{ INTERNAL + PHP_FUNCTION_NAME, 0x1230 },
		{ CLASS + PHP_CLASS_NAME, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct php_layout *layout = make("8.2");

		put(changes[i].at, changes[i].word);
		assert_false(php_layout_check(layout, &memory, BASE + GLOBALS));
	}
}

/* A list of calls that leads back to itself ends. */
static void test_endless(void **state)
{
	const struct php_layout *layout = make("8.2");

	(void)state;
	put(CALLS + 0x80 + PHP_FRAME_PREVIOUS, BASE + CALLS);
	assert_true(php_layout_check(layout, &memory, BASE + GLOBALS));
}

static void check_name(const struct interp_frame *frame, const char *function, const char *file,
		       uint32_t line)
{
	struct interp_name name;

	assert_true(php_name_frame(php_layout_find("8.2"), &memory, frame, &name));
	assert_string_equal(name.function, function);
	assert_string_equal(name.file, file);
	assert_int_equal(name.line, line);
}

static void test_names(void **state)
{
	struct interp_frame internal = { .code = BASE + INTERNAL };
	struct interp_frame frame = { .code = BASE + MAIN, .at = 12 };
	char text[600];

	(void)state;
	make("8.2");
	check_name(&internal, "Class::method", "", 0);
	put(INTERNAL + PHP_FUNCTION_SCOPE, 0);
	check_name(&internal, "method", "", 0);
	check_name(&frame, "include", "/srv/index.php", 12);
	frame.at |= 1ull << 32;
	check_name(&frame, "{main}", "/srv/index.php", 12);
	put(MAIN, PHP_EVAL_CODE);
	check_name(&frame, "eval", "/srv/index.php", 12);
	put(MAIN, PHP_USER_FUNCTION | 0x12345600);
	put(MAIN + PHP_FUNCTION_NAME, BASE + NAME);
	check_name(&frame, "method", "/srv/index.php", 12);
	/* An anonymous class has its place behind a NUL. */
	put(MAIN + PHP_FUNCTION_SCOPE, BASE + CLASS);
	put_text(CLASS_NAME, "class@anonymous\0/srv/x.php:3$0", 30);
	check_name(&frame, "class@anonymous::method", "/srv/index.php", 12);
	/* Names that are longer than there is room are cut. */
	memset(text, 'x', sizeof(text));
	put_text(NAME, text, sizeof(text) / 2);
	text[300] = '\0';
	memcpy(text, "class@anonymous::", 17);
	memset(text + 17, 'x', 300);
	text[317] = '\0';
	check_name(&frame, text, "/srv/index.php", 12);
}

/* The key is another one when another function stands there. */
static void test_key(void **state)
{
	const struct php_layout *layout = make("8.2");
	uint64_t key = php_name_key(layout, &memory, BASE + MAIN);

	(void)state;
	assert_true(key);
	put(MAIN + 80, 17);
	assert_int_equal(php_name_key(layout, &memory, BASE + MAIN), key);
	put(MAIN + layout->walk.filename, BASE + NAME);
	assert_int_not_equal(php_name_key(layout, &memory, BASE + MAIN), key);
	assert_int_equal(php_name_key(layout, &memory, 0x1230), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),	 cmocka_unit_test(test_wrong_layouts),
		cmocka_unit_test(test_no_state), cmocka_unit_test(test_no_sense),
		cmocka_unit_test(test_endless),	 cmocka_unit_test(test_names),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
