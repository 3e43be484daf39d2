/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions return. The code is written down by the tests, so that the truth is what the comments say.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
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
	const struct exit_site *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

#define CHECK(work, ...) check(work, (const uint64_t[]){ __VA_ARGS__, 0 })

static void check(struct work *work, const uint64_t *expected)
{
	struct exits exits;
	size_t i;

	if (!exits_find(&work->file, 0x1000, 0, NULL, &exits))
		fail_msg("refused: %s", exits.refusal);
	qsort(exits.items, exits.count, sizeof(*exits.items), compare);
	for (i = 0; expected[i]; i++)
		assert_int_equal(exits.items[i].offset, expected[i]);
	assert_int_equal(exits.count, i);
	free(work);
}

static void check_refused(struct work *work, const char *words)
{
	struct exits exits;

	assert_false(exits_find(&work->file, 0x1000, 0, NULL, &exits));
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
			check_refused(work, "target is unknown");
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
	check_refused(work, "target is unknown");
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
	for (i = 0; i < EXITS_MAX + 8; i++)
		PUT(work, 0x1000 + 3 * i, "\x74\x01\xc3");
	PUT(work, 0x1000 + 3 * i, "\xc3");
	check_refused(work, "too many places");
	work = work_new();
	PUT(work, SIZE - 1, "\x90"); /* the file ends */
	put_far(work, 0x1000, "\xe9", 1, SIZE - 1);
	check_refused(work, "decode");
}

/* A function that ends with a call does not go on behind it. */
static void test_call_at_the_end(void **state)
{
	struct work *work = work_new();
	struct exits exits;

	(void)state;
	PUT(work, 0x1000, "\x74\x01\xc3"); /* je +1; ret */
	put_far(work, 0x1003, "\xe8", 1, 0x2000);
	PUT(work, 0x1008, "\xff\xe0"); /* jmp *%rax: another function */
	PUT(work, 0x2000, "\xc3");
	assert_false(exits_find(&work->file, 0x1000, 0, NULL, &exits));
	assert_false(exits_find(&work->file, 0x1000, 10, NULL, &exits));
	assert_true(exits_find(&work->file, 0x1000, 8, NULL, &exits));
	assert_int_equal(exits.count, 1);
	assert_int_equal(exits.items[0].offset, 0x1002);
	free(work);
}

/* A jump to memset ends a function, too, and the block is memset's first argument. */
static void test_jump_to_memset(void **state)
{
	static const char *const names[] = { "memset" };
	struct work *work = work_new();
	struct exits exits;

	(void)state;
	fake_plt_write(work->bytes, SIZE, 0x8000, names, 1);
	PUT(work, 0x1000, "\x74\x01\xc3"); /* je +1; ret */
	put_far(work, 0x1003, "\xe9", 1, fake_plt_entry(0x8000, 0));
	assert_true(exits_find(&work->file, 0x1000, 0, NULL, &exits));
	assert_int_equal(exits.count, 2);
	qsort(exits.items, exits.count, sizeof(*exits.items), compare);
	assert_int_equal(exits.items[0].offset, 0x1002);
	assert_false(exits.items[0].in_argument);
	assert_int_equal(exits.items[1].offset, 0x1003);
	assert_true(exits.items[1].in_argument);
	free(work);
}

/* Behind system calls */

static const struct exits_call *call_of(uint32_t number)
{
	static struct exits_call call;

	call = (struct exits_call){ .number = number,
				    .features = probe_features_for_kernel(6, 18) };
	return &call;
}

/* Search for the exits of code at 0x1000 that makes the system call 11; returns the first. */
static struct exit_site first_exit(struct work *work, size_t count)
{
	struct exits exits;

	if (!exits_find(&work->file, 0x1000, 0, call_of(11), &exits))
		fail_msg("refused: %s", exits.refusal);
	assert_int_equal(exits.count, count);
	qsort(exits.items, exits.count, sizeof(*exits.items), compare);
	free(work);
	return exits.items[0];
}

/* mov $11,%eax; syscall */
#define CALL "\xb8\x0b\0\0\0\x0f\x05"
/* mov $12,%eax; syscall */
#define OTHER_CALL "\xb8\x0c\0\0\0\x0f\x05"

static void test_behind_call(void **state)
{
	struct work *work = work_new();
	struct exit_site exit;

	(void)state;
	/* cmp $-4096,%rax; ja +1; ret; ret: the jump, which is emulated, and nothing behind it. */
	PUT(work, 0x1000, CALL "\x48\x3d\x00\xf0\xff\xff\x77\x01\xc3\xc3");
	exit = first_exit(work, 1);
	assert_int_equal(exit.offset, 0x100d);
	assert_true(exit.behind_call);
	assert_false(exit.retried);
	assert_int_equal(exit.stack_bytes, 0);
	/* push %rbx; sub $0x20,%rsp; ... mov %rax,%rdi; add $0x20,%rsp; pop %rbx; ret: none is cheap, so the first. */
	work = work_new();
	PUT(work, 0x1000, "\x53\x48\x83\xec\x20" CALL "\x48\x89\xc7\x48\x83\xc4\x20\x5b\xc3");
	exit = first_exit(work, 1);
	assert_int_equal(exit.offset, 0x100c);
	assert_int_equal(exit.stack_bytes, 0x28);
}

/* What is not certain is not taken: then the return instructions are. */
static void test_not_behind_call(void **state)
{
	static const struct {
		const char *code;
		size_t size, offset;
	} cases[] = {
#define CASE(code, offset) { code, sizeof(code) - 1, offset }
		CASE(OTHER_CALL "\x77\x01\xc3\xc3", 0x1009), /* another call; ja +1; ret; ret */
		CASE("\x0f\x05\x77\x01\xc3\xc3", 0x1004), /* no number */
		/* The number may be another one: je over the mov. */
		CASE("\x74\x05\xb8\x0b\0\0\0\x0f\x05\xc3", 0x1009),
		/* A jump goes right behind the call: je to the ret. */
		CASE("\x74\x07" CALL "\xc3", 0x1009),
		/* The stack is not known: mov %rbp,%rsp. */
		CASE("\x48\x89\xec" CALL "\xc3", 0x100a),
		/* Twice pushed on one way: je over the push. */
		CASE("\x74\x01\x53" CALL "\x5b\xc3", 0x100b),
	};
	struct exit_site exit;
	struct work *work;
	struct exits exits;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		work = work_new();
		memcpy(work->bytes + 0x1000, cases[i].code, cases[i].size);
		assert_true(exits_find(&work->file, 0x1000, 0, call_of(11), &exits));
		qsort(exits.items, exits.count, sizeof(*exits.items), compare);
		exit = exits.items[0];
		if (exit.behind_call || exit.offset != cases[i].offset)
			fail_msg("case %zu: 0x%lx", i, (unsigned long)exit.offset);
		free(work);
	}
}

/* A call that fails and is made again, differently: only a success is known there. */
static void test_retried(void **state)
{
	struct work *work = work_new();
	struct exits exits;

	(void)state;
	/* syscall; js +1; ret; mov $11,%eax; syscall; js -4 */
	PUT(work, 0x1000, CALL "\x78\x01\xc3" CALL "\x78\x01\xc3\xc3");
	assert_true(exits_find(&work->file, 0x1000, 0, call_of(11), &exits));
	qsort(exits.items, exits.count, sizeof(*exits.items), compare);
	assert_int_equal(exits.count, 3);
	assert_int_equal(exits.items[0].offset, 0x1007);
	assert_true(exits.items[0].behind_call && exits.items[0].retried);
	assert_int_equal(exits.items[1].offset, 0x1009);
	assert_false(exits.items[1].behind_call);
	assert_int_equal(exits.items[2].offset, 0x1011);
	assert_true(exits.items[2].behind_call && !exits.items[2].retried);
	free(work);
}

/* Functions of C libraries, whose exits tests/data/functions/exits.txt has. */

#define FUNCTIONS "tests/data/functions/"
#define PLACE 0x200000
#define LARGE 0x400000

/* Write a function's code to PLACE. Returns how many bytes it has. */
static size_t put_function(uint8_t *bytes, const char *library, const char *symbol)
{
	char path[256], *line = NULL, *names, *hex;
	size_t capacity = 0, size = 0;
	FILE *file;

	snprintf(path, sizeof(path), FUNCTIONS "%s.txt", library);
	file = fopen(path, "r");
	assert_non_null(file);
	while (!size && getline(&line, &capacity, file) > 0) {
		names = strtok(line, " ");
		strtok(NULL, " ");
		hex = strtok(NULL, "\n");
		names[strcspn(names, ",")] = '\0';
		if (strcmp(names, symbol) != 0)
			continue;
		for (size = 0; hex[2 * size]; size++)
			assert_int_equal(sscanf(hex + 2 * size, "%2hhx", bytes + PLACE + size), 1);
	}
	free(line);
	fclose(file);
	assert_true(size > 0);
	return size;
}

/* As in the table: "+25/0" is an instruction behind the call and its stack, "+25/0?" one that is tried again, "+53" a return. */
static void describe_exits(const struct exits *exits, size_t size, char *text)
{
	size_t i;

	*text = '\0';
	for (i = 0; i < exits->count; i++) {
		const struct exit_site *exit = &exits->items[i];

		if (exit->offset - PLACE >= size)
			continue;
		text += sprintf(text, " +%u", (unsigned int)(exit->offset - PLACE));
		if (exit->behind_call)
			text += sprintf(text, "/%u%s", exit->stack_bytes, exit->retried ? "?" : "");
	}
}

static void check_function(const char *library, const char *symbol, const char *expected)
{
	struct elf_file file = { .size = LARGE };
	uint8_t *bytes = memory_alloc(LARGE, 1);
	char text[64 * EXITS_MAX];
	struct exits exits;
	size_t size;

	/* Whatever it calls, returns. */
	memset(bytes, 0xc3, LARGE);
	file.bytes = bytes;
	size = put_function(bytes, library, symbol);
	if (!exits_find(&file, PLACE, size,
			call_of(!strcmp(symbol, "mmap")	    ? 9
				: !strcmp(symbol, "munmap") ? 11
							    : 25),
			&exits))
		fail_msg("%s %s: %s", library, symbol, exits.refusal);
	qsort(exits.items, exits.count, sizeof(*exits.items), compare);
	describe_exits(&exits, size, text);
	if (strcmp(text, expected) != 0)
		fail_msg("%s %s:%s, not%s", library, symbol, text, expected);
	free(bytes);
}

static void test_functions(void **state)
{
	FILE *file = fopen(FUNCTIONS "exits.txt", "r");
	char line[256], library[64], symbol[64];
	size_t count = 0;
	int at;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		assert_int_equal(sscanf(line, "%63s %63s%n", library, symbol, &at), 2);
		line[strcspn(line, "\n")] = '\0';
		check_function(library, symbol, line + at);
		count++;
	}
	assert_true(count > 0);
	fclose(file);
}

#endif

/* Of this architecture or not, nothing is made up. */
static void test_outside(void **state)
{
	struct elf_file file = { .bytes = (const uint8_t *)"", .size = 0 };
	struct exits exits;

	(void)state;
	assert_false(exits_find(&file, UINT64_MAX - 3, 0, NULL, &exits));
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
		cmocka_unit_test(test_call_at_the_end),
		cmocka_unit_test(test_jump_to_memset),
		cmocka_unit_test(test_behind_call),
		cmocka_unit_test(test_not_behind_call),
		cmocka_unit_test(test_retried),
		cmocka_unit_test(test_functions),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
