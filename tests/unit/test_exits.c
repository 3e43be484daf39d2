/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions return. The code is written down by the tests, so that the truth is what the comments say.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/memory.h"
#include "fake_elf_file.h"
#include "fake_plt.h"
#include "probe/exits.h"

#define SIZE 0x10000

#if defined(__x86_64__)

struct work {
	struct elf_file file;
	uint8_t bytes[SIZE];
};

static struct work *work_new(void)
{
	struct work *work = memory_alloc(1, sizeof(*work));

	work->file.bytes = work->bytes;
	work->file.size = SIZE;
	/* What is not written down is no code. */
	memset(work->bytes, 0x06, SIZE);
	return work;
}

#define PUT(work, offset, code) memcpy((work)->bytes + (offset), code, sizeof(code) - 1)

static void put_name(struct work *work, const char *name, uint64_t offset)
{
	work->file.functions[work->file.function_count++] =
		(struct elf_function){ .name = name, .file_offset = offset };
}

/* An instruction with a 32-bit distance behind its opcode. */
static void put_far(struct work *work, uint64_t offset, const char *opcode, size_t size,
		    uint64_t target)
{
	int32_t distance = (int32_t)((int64_t)target - (int64_t)(offset + size + 4));

	memcpy(work->bytes + offset, opcode, size);
	memcpy(work->bytes + offset + size, &distance, sizeof(distance));
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

#define CHECK(work, ...) check(work, (const uint64_t[]){ __VA_ARGS__, 0 })

static void check(struct work *work, const uint64_t *expected)
{
	struct exits exits;
	size_t i;

	if (!exits_find(&work->file, 0x1000, &exits))
		fail_msg("refused: %s", exits.refusal);
	qsort(exits.offsets, exits.count, sizeof(*exits.offsets), compare);
	for (i = 0; expected[i]; i++)
		assert_int_equal(exits.offsets[i], expected[i]);
	assert_int_equal(exits.count, i);
	free(work);
}

static void check_refused(struct work *work, const char *words)
{
	struct exits exits;

	assert_false(exits_find(&work->file, 0x1000, &exits));
	if (!strstr(exits.refusal, words))
		fail_msg("%s", exits.refusal);
	free(work);
}

static void test_straight(void **state)
{
	struct work *work = work_new();

	(void)state;
	PUT(work, 0x1000, "\xf3\x0f\x1e\xfa\x53\x5b\xc3"); /* endbr64; push; pop; ret */
	CHECK(work, 0x1006);
}

static void test_branches(void **state)
{
	struct work *work = work_new();

	(void)state;
	PUT(work, 0x1000, "\x85\xff\x74\x03\xf3\xc3"); /* test; je +3; repz ret */
	PUT(work, 0x1007, "\x75\xf7\xc3"); /* jne back to the start; ret */
	CHECK(work, 0x1004, 0x1009);
}

/* Tail calls: within the file, by name through the linkage table, and to other files. */
static void test_jumps(void **state)
{
	static const char *const names[] = { "slow_path", "elsewhere" };
	struct work *work = work_new();

	(void)state;
	fake_plt_write(work->bytes, SIZE, 0x8000, names, 2);
	put_name(work, "slow_path", 0x3000);
	put_far(work, 0x1000, "\x0f\x84", 2, 0x2000); /* je */
	put_far(work, 0x1006, "\xe9", 1, fake_plt_entry(0x8000, 0));
	PUT(work, 0x2000, "\xc3");
	PUT(work, 0x3000, "\x90\xc3");
	CHECK(work, 0x2000, 0x3001);
	work = work_new();
	fake_plt_write(work->bytes, SIZE, 0x8000, names, 2);
	put_far(work, 0x1000, "\xe9", 1, fake_plt_entry(0x8000, 1));
	check_refused(work, "another file");
}

/* What stands behind a call that throws belongs to another function. */
static void test_final_calls(void **state)
{
	static const char *const names[] = { "__cxa_throw", "_ZSt17__throw_bad_allocv", "malloc" };
	struct work *work;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		work = work_new();
		fake_plt_write(work->bytes, SIZE, 0x8000, names, 3);
		PUT(work, 0x1000, "\x74\x01\xc3"); /* je +1; ret */
		put_far(work, 0x1003, "\xe8", 1, fake_plt_entry(0x8000, i));
		PUT(work, 0x1008, "\xff\xe0"); /* jmp *%rax */
		if (i < 2)
			CHECK(work, 0x1002);
		else
			check_refused(work, "cannot be told");
	}
	/* By way of a function of the file that does nothing but throw, or that has such a name. */
	for (i = 0; i < 2; i++) {
		work = work_new();
		fake_plt_write(work->bytes, SIZE, 0x8000, names, 3);
		PUT(work, 0x1000, "\x74\x01\xc3");
		put_far(work, 0x1003, "\xe8", 1, 0x2000);
		PUT(work, 0x1008, "\xff\xe0");
		if (i)
			put_name(work, "__cxa_throw", 0x2000);
		put_far(work, 0x2000, "\xe8", 1, fake_plt_entry(0x8000, i ? 2 : 0));
		if (i)
			PUT(work, 0x2005, "\xc3");
		else
			PUT(work, 0x2005, "\xff\xe0");
		CHECK(work, 0x1002);
	}
}

static void test_refused(void **state)
{
	struct work *work = work_new();
	size_t i;

	(void)state;
	PUT(work, 0x1000, "\xff\xe0");
	check_refused(work, "cannot be told");
	work = work_new();
	PUT(work, 0x1000, "\x90\x06");
	check_refused(work, "decode");
	work = work_new();
	PUT(work, 0x1000, "\xeb\xfe"); /* for ever */
	check_refused(work, "never returns");
	work = work_new();
	memset(work->bytes + 0x1000, 0x90, 0x8000);
	check_refused(work, "too large");
	work = work_new();
	for (i = 0; i < 40; i++)
		PUT(work, 0x1000 + 3 * i, "\x74\x01\xc3");
	check_refused(work, "too many places");
	work = work_new();
	PUT(work, SIZE - 1, "\x90"); /* the file ends */
	put_far(work, 0x1000, "\xe9", 1, SIZE - 1);
	check_refused(work, "decode");
}

#endif

/* Of this architecture or not, nothing is made up. */
static void test_outside(void **state)
{
	struct elf_file file = { .bytes = (const uint8_t *)"", .size = 0 };
	struct exits exits;

	(void)state;
	assert_false(exits_find(&file, UINT64_MAX - 3, &exits));
	assert_non_null(exits.refusal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside),
#if defined(__x86_64__)
		cmocka_unit_test(test_straight),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_final_calls),
		cmocka_unit_test(test_refused),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
