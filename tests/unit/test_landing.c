/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for jumps from elsewhere. The truth is where the test has put jumps into a file of its own; their
 * displacements are computed by the rule of the processor's manual: target = end of the instruction + displacement.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake_elf_file.h"
#include "probe/landing.h"

/* More than two of the pieces that a file is read in. */
#define SIZE (5u << 19)

static uint8_t *bytes;

static int setup(void **state)
{
	(void)state;
	bytes = calloc(1, SIZE);
	return bytes == NULL;
}

static int teardown(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

static size_t put_jump(size_t at, const char *opcode, size_t length, uint64_t target)
{
	int32_t displacement = (int32_t)((int64_t)target - (int64_t)(at + length + 4));

	memcpy(bytes + at, opcode, length);
	memcpy(bytes + at + length, &displacement, sizeof(displacement));
	return length + 4;
}

static struct landing search(uint64_t first, uint64_t last)
{
	struct elf_file file = { .bytes = bytes, .size = SIZE };
	struct landing landing = { .first = first, .last = last };

	landing_search(&file, &landing, 1);
	assert_true(landing.searched);
	return landing;
}

static bool jump_is_found(size_t at, const char *opcode, size_t length, uint64_t target)
{
	size_t size = put_jump(at, opcode, length, target);
	bool found = search(0x1001, 0x1007).found;

	memset(bytes + at, 0, size);
	return found;
}

static void test_opcodes(void **state)
{
	(void)state;
	assert_true(jump_is_found(0x5000, "\xe9", 1, 0x1004));
	assert_true(jump_is_found(0x5000, "\xe8", 1, 0x1004));
	assert_true(jump_is_found(0x5000, "\x0f\x80", 2, 0x1004));
	assert_true(jump_is_found(0x5000, "\x0f\x8f", 2, 0x1004));
	assert_false(jump_is_found(0x5000, "\x0f\x90", 2, 0x1004));
	assert_false(jump_is_found(0x5000, "\x8b", 1, 0x1004));
}

static void test_both_ends_count(void **state)
{
	(void)state;
	assert_false(jump_is_found(0x5000, "\xe9", 1, 0x1000));
	assert_true(jump_is_found(0x5000, "\xe9", 1, 0x1001));
	assert_true(jump_is_found(0x5000, "\xe9", 1, 0x1007));
	assert_false(jump_is_found(0x5000, "\xe9", 1, 0x1008));
}

/* Wherever the jump stands: in front, at the ends of the file, across the pieces it is read in. */
static void test_everywhere(void **state)
{
	size_t at;

	(void)state;
	assert_true(jump_is_found(1, "\xe9", 1, 0x1004));
	assert_true(jump_is_found(SIZE - 5, "\xe9", 1, 0x1004));
	for (at = (1u << 20) - 12; at < (1u << 20) + 4; at++) {
		assert_true(jump_is_found(at, "\xe9", 1, 0x1004));
		assert_true(jump_is_found(at, "\x0f\x84", 2, 0x1004));
	}
}

static void test_several_at_once(void **state)
{
	struct elf_file file = { .bytes = bytes, .size = SIZE };
	struct landing items[] = {
		{ .first = 0x9001, .last = 0x9003 },
		{ .first = 0x1001, .last = 0x1007 },
		{ .first = 0x7001, .last = 0x7001 },
	};
	size_t size = put_jump(0x20000, "\xe9", 1, 0x1002);

	(void)state;
	landing_search(&file, items, 3);
	memset(bytes + 0x20000, 0, size);
	assert_true(items[0].searched && items[1].searched && items[2].searched);
	assert_false(items[0].found);
	assert_true(items[1].found);
	assert_false(items[2].found);
	landing_search(&file, items, 0);
}

static void test_not_mapped(void **state)
{
	struct elf_file file = {
		.bytes = bytes, .size = SIZE, .text_start = 0x2000, .text_end = 0x4000
	};
	struct landing landing = { .first = 0x1001, .last = 0x1007 };

	(void)state;
	landing_search(&file, &landing, 1);
	assert_false(landing.searched);
	landing = (struct landing){ .first = 0x3001, .last = 0x3007 };
	landing_search(&file, &landing, 1);
	assert_true(landing.searched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opcodes),	   cmocka_unit_test(test_both_ends_count),
		cmocka_unit_test(test_everywhere), cmocka_unit_test(test_several_at_once),
		cmocka_unit_test(test_not_mapped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
