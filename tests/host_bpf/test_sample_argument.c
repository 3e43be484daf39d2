/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments of samples, from registers and memory that the test has made. The texts say where they stand, as a compiler
 * would have written them, so that both sides of the line are tested against each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#include <cmocka.h>

#include "shim.h"

static long bpf_probe_read_kernel(void *to, uint32_t size, const void *address)
{
	memcpy(to, address, size);
	return 0;
}

#include "sample_argument.bpf.h"

#include "probe/usdt_argument.h"

#define MEMORY 0x7000u

static __u64 registers[SAMPLE_REGISTERS];
static const uint64_t memory[] = { 0x8877665544332211, 0x1122334455667788, 0xfedcba9876543210 };

static int set_up(void **state)
{
	size_t i;

	(void)state;
	shim = (struct shim){ 0 };
	shim_add_region(MEMORY, memory, sizeof(memory), false);
	for (i = 0; i < SAMPLE_REGISTERS; i++)
		registers[i] = 0x1000 * (i + 1);
	return 0;
}

static bool read_argument(const char *text, enum usdt_machine machine, __u64 *ret_value)
{
	struct sample_argument argument;

	assert_null(usdt_arguments_parse(text, machine, &argument, 1));
	return sample_argument_read(registers, &argument, ret_value);
}

static void assert_value(const char *text, enum usdt_machine machine, uint64_t expected)
{
	__u64 value = 0;

	if (!read_argument(text, machine, &value) || value != expected)
		fail_msg("%s is 0x%llx, not 0x%lx", text, (unsigned long long)value,
			 (unsigned long)expected);
}

static void test_constants(void **state)
{
	(void)state;
	assert_value("8@$1024", USDT_X86_64, 1024);
	assert_value("-8@$-1", USDT_X86_64, UINT64_MAX);
	assert_value("-4@$-1", USDT_X86_64, UINT64_MAX);
	assert_value("4@$-1", USDT_X86_64, UINT32_MAX);
	assert_value("1@$511", USDT_X86_64, 255);
	assert_value("-1@$255", USDT_X86_64, UINT64_MAX);
}

/* rcx is the twelfth word of x86-64's registers, and r9 the ninth. */
static void test_registers(void **state)
{
	(void)state;
	registers[11] = 0xfedcba9876543280;
	assert_value("8@%rcx", USDT_X86_64, 0xfedcba9876543280);
	assert_value("-8@%rcx", USDT_X86_64, 0xfedcba9876543280);
	assert_value("4@%ecx", USDT_X86_64, 0x76543280);
	assert_value("-4@%ecx", USDT_X86_64, 0x76543280);
	assert_value("2@%cx", USDT_X86_64, 0x3280);
	assert_value("1@%cl", USDT_X86_64, 0x80);
	assert_value("-1@%cl", USDT_X86_64, 0xffffffffffffff80);
	assert_value("1@%ch", USDT_X86_64, 0x32);
	assert_value("8@%r9", USDT_X86_64, 0x9000);
	assert_value("8@x30", USDT_ARM64, 0x1f000);
	assert_value("8@sp", USDT_ARM64, 0x20000);
	assert_value("8@xzr", USDT_ARM64, 0);
}

/* rbp is the fifth word, rsp the twentieth, rax the eleventh. */
static void test_memory(void **state)
{
	(void)state;
	registers[4] = MEMORY + 16;
	registers[19] = MEMORY;
	registers[10] = 1;
	assert_value("8@-16(%rbp)", USDT_X86_64, memory[0]);
	assert_value("4@-16(%rbp)", USDT_X86_64, 0x44332211);
	assert_value("-4@4(%rsp)", USDT_X86_64, 0xffffffff88776655);
	assert_value("1@7(%rsp)", USDT_X86_64, 0x88);
	assert_value("8@(%rsp,%rax,8)", USDT_X86_64, memory[1]);
	assert_value("2@8(%rsp,%rax,2)", USDT_X86_64, 0x5566);
	assert_value("8@28680(,%rax,8)", USDT_X86_64, memory[2]);
	registers[0] = MEMORY;
	registers[1] = 2;
	assert_value("8@[x0, 8]", USDT_ARM64, memory[1]);
	assert_value("8@[x0, x1, lsl 3]", USDT_ARM64, memory[2]);
}

static void test_memory_that_is_not_there(void **state)
{
	__u64 value = 7;

	(void)state;
	registers[19] = MEMORY;
	assert_false(read_argument("8@-8(%rsp)", USDT_X86_64, &value));
	assert_false(read_argument("8@20(%rsp)", USDT_X86_64, &value));
	assert_true(read_argument("4@20(%rsp)", USDT_X86_64, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_constants, set_up),
		cmocka_unit_test_setup(test_registers, set_up),
		cmocka_unit_test_setup(test_memory, set_up),
		cmocka_unit_test_setup(test_memory_that_is_not_there, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
