/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where arguments of USDT probes stand. The texts are as GCC and clang write them. The numbers of registers are those of
 * the words in the kernel's struct pt_regs: on x86-64 the C library's copy of it is the truth; on arm64 they are x0 to x30,
 * then sp.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#if defined(__x86_64__)
#include <sys/user.h>
#endif

#include "base/memory.h"
#include "probe/usdt_argument.h"

static struct sample_argument parse(const char *text, enum usdt_machine machine)
{
	/* In memory of its own, so that nobody reads behind it. */
	char *copy = memory_copy_string(text);
	struct sample_argument argument = { 0 };
	const char *refusal = usdt_arguments_parse(copy, machine, &argument, 1);

	free(copy);
	if (refusal)
		fail_msg("'%s' is refused: %s", text, refusal);
	return argument;
}

static void assert_refused(const char *text, enum usdt_machine machine, const char *why)
{
	char *copy = memory_copy_string(text);
	struct sample_argument argument = { .value = 77 };
	const char *refusal = usdt_arguments_parse(copy, machine, &argument, 1);

	free(copy);
	if (!refusal || !strstr(refusal, why))
		fail_msg("'%s' is not refused for '%s' but for '%s'", text, why,
			 refusal ? refusal : "nothing");
	assert_int_equal(argument.value, 77);
}

static void assert_register(const char *text, enum usdt_machine machine, int number, int size,
			    bool is_signed)
{
	struct sample_argument argument = parse(text, machine);

	assert_int_equal(argument.place, SAMPLE_REGISTER);
	assert_int_equal(argument.base, number);
	assert_int_equal(argument.skip, 0);
	assert_int_equal(argument.size, size);
	assert_int_equal(argument.is_signed, is_signed);
}

static void assert_memory(const char *text, enum usdt_machine machine, long value, int base,
			  int index, int shift)
{
	struct sample_argument argument = parse(text, machine);

	assert_int_equal(argument.place, SAMPLE_MEMORY);
	assert_int_equal(argument.value, value);
	assert_int_equal(argument.base, base);
	assert_int_equal(argument.index, index);
	assert_int_equal(argument.shift, shift);
}

static void assert_constant(const char *text, enum usdt_machine machine, int64_t value)
{
	struct sample_argument argument = parse(text, machine);

	assert_int_equal(argument.place, SAMPLE_CONSTANT);
	assert_true(argument.value == value);
}

#if defined(__x86_64__)
#define WORD(name) ((int)(offsetof(struct user_regs_struct, name) / 8))
#else
/* The same on machines without that header: r15 comes first, rsp last but one. */
enum { r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip };
enum { rsp = 19 };
#define WORD(name) ((int)name)
#endif

static void test_x86_registers(void **state)
{
	static const struct {
		const char *names[4];
		int number;
	} registers[] = {
		{ { "rax", "eax", "ax", "al" }, WORD(rax) },
		{ { "rbx", "ebx", "bx", "bl" }, WORD(rbx) },
		{ { "rcx", "ecx", "cx", "cl" }, WORD(rcx) },
		{ { "rdx", "edx", "dx", "dl" }, WORD(rdx) },
		{ { "rsi", "esi", "si", "sil" }, WORD(rsi) },
		{ { "rdi", "edi", "di", "dil" }, WORD(rdi) },
		{ { "rbp", "ebp", "bp", "bpl" }, WORD(rbp) },
		{ { "rsp", "esp", "sp", "spl" }, WORD(rsp) },
		{ { "r8", "r8d", "r8w", "r8b" }, WORD(r8) },
		{ { "r9", "r9d", "r9w", "r9b" }, WORD(r9) },
		{ { "r10", "r10d", "r10w", "r10b" }, WORD(r10) },
		{ { "r11", "r11d", "r11w", "r11b" }, WORD(r11) },
		{ { "r12", "r12d", "r12w", "r12b" }, WORD(r12) },
		{ { "r13", "r13d", "r13w", "r13b" }, WORD(r13) },
		{ { "r14", "r14d", "r14w", "r14b" }, WORD(r14) },
		{ { "r15", "r15d", "r15w", "r15b" }, WORD(r15) },
	};
	char text[32];
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		for (j = 0; j < 4; j++) {
			snprintf(text, sizeof(text), "%d@%%%s", 8 >> j, registers[i].names[j]);
			assert_register(text, USDT_X86_64, registers[i].number, 8 >> j, false);
			snprintf(text, sizeof(text), "-%d@%%%s", 8 >> j, registers[i].names[j]);
			assert_register(text, USDT_X86_64, registers[i].number, 8 >> j, true);
		}
}

static void test_x86_second_byte(void **state)
{
	struct sample_argument argument = parse("1@%ch", USDT_X86_64);

	(void)state;
	assert_int_equal(argument.base, WORD(rcx));
	assert_int_equal(argument.skip, 8);
	assert_int_equal(argument.size, 1);
}

/* The size before the at sign decides, whatever the register is called. */
static void test_x86_width_of_the_size(void **state)
{
	(void)state;
	assert_register("8@%eax", USDT_X86_64, WORD(rax), 8, false);
	assert_register("-4@%rax", USDT_X86_64, WORD(rax), 4, true);
}

static void test_x86_constants(void **state)
{
	(void)state;
	assert_constant("8@$1024", USDT_X86_64, 1024);
	assert_constant("-4@$-1", USDT_X86_64, -1);
	assert_constant("-8@$-9223372036854775808", USDT_X86_64, INT64_MIN);
	assert_constant("8@$18446744073709551615", USDT_X86_64, -1);
	assert_constant("8@$0", USDT_X86_64, 0);
	assert_constant("8@$0x1F", USDT_X86_64, 31);
	assert_constant("8@$16+8", USDT_X86_64, 24);
	assert_refused("8@$18446744073709551616", USDT_X86_64, "constant");
	assert_refused("8@$017", USDT_X86_64, "constant");
	assert_refused("8@$variable", USDT_X86_64, "constant");
	assert_refused("8@$", USDT_X86_64, "constant");
	assert_refused("8@$0x", USDT_X86_64, "constant");
}

static void test_x86_memory(void **state)
{
	(void)state;
	assert_memory("8@(%rax)", USDT_X86_64, 0, WORD(rax), SAMPLE_NO_REGISTER, 0);
	assert_memory("8@-24(%rbp)", USDT_X86_64, -24, WORD(rbp), SAMPLE_NO_REGISTER, 0);
	assert_memory("8@0x10(%rsp)", USDT_X86_64, 16, WORD(rsp), SAMPLE_NO_REGISTER, 0);
	assert_memory("8@8+16(%rsp)", USDT_X86_64, 24, WORD(rsp), SAMPLE_NO_REGISTER, 0);
	assert_memory("4@16(%rsp,%rax)", USDT_X86_64, 16, WORD(rsp), WORD(rax), 0);
	assert_memory("8@-8(%r12,%r9,8)", USDT_X86_64, -8, WORD(r12), WORD(r9), 3);
	assert_memory("8@40(,%rdi,4)", USDT_X86_64, 40, SAMPLE_NO_REGISTER, WORD(rdi), 2);
}

static void test_x86_refusals(void **state)
{
	(void)state;
	assert_refused("8@counter(%rip)", USDT_X86_64, "variable");
	assert_refused("8@.LC0(%rip)", USDT_X86_64, "variable");
	assert_refused("8@16(%rip)", USDT_X86_64, "could be read");
	assert_refused("8@%fs:16", USDT_X86_64, "could be read");
	assert_refused("8@%xmm0", USDT_X86_64, "could be read");
	assert_refused("8f@%xmm0", USDT_X86_64, "whole number");
	assert_refused("8@(%eax)", USDT_X86_64, "could be read");
	assert_refused("8@16(%rsp,%rax,3)", USDT_X86_64, "could be read");
	assert_refused("8@16(%rsp,%rax,8", USDT_X86_64, "could be read");
	assert_refused("8@16(%rsp,%rax,", USDT_X86_64, "could be read");
	assert_refused("8@16(%rsp", USDT_X86_64, "could be read");
	assert_refused("8@16(%rsp,", USDT_X86_64, "could be read");
	assert_refused("8@()", USDT_X86_64, "could be read");
	assert_refused("8@(", USDT_X86_64, "could be read");
	assert_refused("8@1234", USDT_X86_64, "could be read");
	assert_refused("8@%rax,", USDT_X86_64, "could be read");
	assert_refused("8@%raxraxraxrax", USDT_X86_64, "could be read");
	assert_refused("8@%", USDT_X86_64, "could be read");
	assert_refused("8@", USDT_X86_64, "could be read");
	assert_refused("8@x0", USDT_X86_64, "variable");
}

static void test_sizes(void **state)
{
	(void)state;
	assert_refused("%rax", USDT_X86_64, "size");
	assert_refused("3@%rax", USDT_X86_64, "size");
	assert_refused("16@%rax", USDT_X86_64, "size");
	assert_refused("0@%rax", USDT_X86_64, "size");
	assert_refused("--8@%rax", USDT_X86_64, "size");
	assert_refused("8 @%rax", USDT_X86_64, "size");
	assert_refused("-", USDT_X86_64, "size");
	assert_refused("8", USDT_X86_64, "size");
	assert_refused("", USDT_X86_64, "too few");
	assert_refused("   ", USDT_X86_64, "too few");
}

static void test_several(void **state)
{
	struct sample_argument arguments[3];

	(void)state;
	assert_null(usdt_arguments_parse(" 8@%rdi  -4@$5 8@16(%rsp,%rax,8) 8@nonsense", USDT_X86_64,
					 arguments, 3));
	assert_int_equal(arguments[0].base, WORD(rdi));
	assert_int_equal(arguments[1].value, 5);
	assert_int_equal(arguments[2].index, WORD(rax));
	assert_string_equal(usdt_arguments_parse("8@%rdi 8@%rsi", USDT_X86_64, arguments, 3),
			    "it has too few arguments");
}

static void test_arm64(void **state)
{
	(void)state;
	assert_register("8@x0", USDT_ARM64, 0, 8, false);
	assert_register("-4@w30", USDT_ARM64, 30, 4, true);
	assert_register("8@sp", USDT_ARM64, 31, 8, false);
	assert_constant("8@xzr", USDT_ARM64, 0);
	assert_constant("4@wzr", USDT_ARM64, 0);
	assert_constant("8@123", USDT_ARM64, 123);
	assert_constant("-4@-1", USDT_ARM64, -1);
	assert_constant("8@#16", USDT_ARM64, 16);
	assert_memory("8@[x0]", USDT_ARM64, 0, 0, SAMPLE_NO_REGISTER, 0);
	assert_memory("8@[sp, 16]", USDT_ARM64, 16, 31, SAMPLE_NO_REGISTER, 0);
	assert_memory("8@[sp,16]", USDT_ARM64, 16, 31, SAMPLE_NO_REGISTER, 0);
	assert_memory("-4@[x29, #-20]", USDT_ARM64, -20, 29, SAMPLE_NO_REGISTER, 0);
	assert_memory("8@[x1, x2]", USDT_ARM64, 0, 1, 2, 0);
	assert_memory("8@[x1, x2, lsl 3]", USDT_ARM64, 0, 1, 2, 3);
	assert_memory("8@[x1, x2, lsl #3]", USDT_ARM64, 0, 1, 2, 3);
}

static void test_arm64_refusals(void **state)
{
	(void)state;
	assert_refused("8@x31", USDT_ARM64, "could be read");
	assert_refused("8@x", USDT_ARM64, "could be read");
	assert_refused("8@x01", USDT_ARM64, "could be read");
	assert_refused("8f@d0", USDT_ARM64, "whole number");
	assert_refused("8@d0", USDT_ARM64, "could be read");
	assert_refused("8@[w0]", USDT_ARM64, "could be read");
	assert_refused("8@[x0, 16]!", USDT_ARM64, "could be read");
	assert_refused("8@[x0", USDT_ARM64, "could be read");
	assert_refused("8@[x0,", USDT_ARM64, "could be read");
	assert_refused("8@[x0, w1, sxtw 3]", USDT_ARM64, "could be read");
	assert_refused("8@[x0, x1, lsl 4]", USDT_ARM64, "could be read");
	assert_refused("8@[x0, x1, lsl", USDT_ARM64, "could be read");
	assert_refused("8@[", USDT_ARM64, "could be read");
	assert_refused("8@", USDT_ARM64, "could be read");
	assert_refused("8@%rax", USDT_ARM64, "could be read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_registers),
		cmocka_unit_test(test_x86_second_byte),
		cmocka_unit_test(test_x86_width_of_the_size),
		cmocka_unit_test(test_x86_constants),
		cmocka_unit_test(test_x86_memory),
		cmocka_unit_test(test_x86_refusals),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_arm64_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
