/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of all blocks of a look for lost ones: what is written is read again, and what was changed is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "recording/leak_state.h"

#define BLOCKS 500
#define FIRST 0x555555550000ull

static uint64_t address_of(uint64_t i)
{
	return FIRST + 48 * i + (i > 100 ? 1ull << 40 : 0);
}

static uint64_t size_of(uint64_t i)
{
	return i % 7 ? 40 : i << 30;
}

static struct buffer state_file(void)
{
	struct leak_state state = {
		.owner = { .pid = 42, .start_time = 7, .vector = 9, .wall_time = 1700000000 }
	};
	struct buffer file = { 0 };
	uint64_t i;

	for (i = 0; i < BLOCKS; i++)
		leak_state_add(&state, address_of(i), size_of(i),
			       (enum leak_verdict)(i % LEAK_VERDICTS));
	leak_state_write(&state, &file);
	leak_state_free(&state);
	return file;
}

static enum leak_before before_of(enum leak_verdict verdict)
{
	return verdict == LEAK_REACHABLE			      ? LEAK_BEFORE_REACHABLE
	       : verdict == LEAK_DEFINITE || verdict == LEAK_INDIRECT ? LEAK_BEFORE_LOST
								      : LEAK_BEFORE_UNSURE;
}

static void test_what_was_written(void **state)
{
	struct buffer file = state_file();
	struct leak_state_cursor cursor = { 0 };
	struct leak_state read = { 0 };
	struct error error = { 0 };
	uint64_t i;

	(void)state;
	assert_int_equal(leak_state_read(&file, "file", &read, &error), 0);
	assert_int_equal(read.owner.pid, 42);
	assert_int_equal(read.owner.start_time, 7);
	assert_int_equal(read.owner.vector, 9);
	assert_int_equal(read.owner.wall_time, 1700000000);
	assert_int_equal(read.count, BLOCKS);
	assert_int_equal(leak_state_find(&read, &cursor, 8, 40), LEAK_BEFORE_NEW);
	for (i = 0; i < BLOCKS; i += 1 + i % 3) {
		bool is_same = i % 5;

		assert_int_equal(
			leak_state_find(&read, &cursor, address_of(i), size_of(i) + !is_same),
			is_same ? before_of((enum leak_verdict)(i % LEAK_VERDICTS))
				: LEAK_BEFORE_NEW);
		assert_int_equal(leak_state_find(&read, &cursor, address_of(i) + 8, 40),
				 LEAK_BEFORE_NEW);
	}
	assert_int_equal(leak_state_find(&read, &cursor, INT64_MAX, 40), LEAK_BEFORE_NEW);
	leak_state_free(&read);
	buffer_free(&file);
}

static void refuse(const char *bytes, size_t length)
{
	struct buffer file = { 0 };
	struct leak_state read = { 0 };
	struct error error = { 0 };

	buffer_append(&file, bytes, length);
	assert_int_not_equal(leak_state_read(&file, "a\033file", &read, &error), 0);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, "file' "));
	assert_null(strchr(error.text, '\033'));
	leak_state_free(&read);
	buffer_free(&file);
}

/* Cut anywhere, with a byte too much, and with each byte changed. */
static void test_what_was_changed(void **state)
{
	struct buffer file = state_file();
	size_t i;

	(void)state;
	for (i = 0; i < file.length; i++) {
		refuse(file.data, i);
		file.data[i] ^= 0x10;
		refuse(file.data, file.length);
		file.data[i] ^= 0x10;
	}
	buffer_free(&file);
}

/* No look finds a process without blocks, but such a file is one. */
static void test_nothing(void **state)
{
	struct leak_state none = { 0 }, read = { 0 };
	struct leak_state_cursor cursor = { 0 };
	struct buffer file = { 0 };
	struct error error = { 0 };

	(void)state;
	leak_state_write(&none, &file);
	assert_int_equal(leak_state_read(&file, "file", &read, &error), 0);
	assert_int_equal(leak_state_find(&read, &cursor, 0, 0), LEAK_BEFORE_NEW);
	leak_state_free(&read);
	buffer_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written),
		cmocka_unit_test(test_what_was_changed),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
