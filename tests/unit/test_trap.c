/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trap costs. The truth was measured on Linux 6.18, a probe at a time, on a function that starts with the
 * instruction: 470 to 690 ns where the kernel emulates or optimizes, 10,700 ns and more where it steps. What older
 * kernels do is from the history of arch/x86/kernel/uprobes.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "probe/trap.h"

#if defined(__x86_64__)

static enum probe_cost cost_at(unsigned int major, unsigned int minor, uint64_t address,
			       const char *bytes, size_t length)
{
	struct probe_features features = probe_features_for_kernel(major, minor);

	return trap_cost((const uint8_t *)bytes, length, address, &features);
}

#define MEASURED(bytes) cost_at(6, 18, 0x1000, bytes, sizeof(bytes) - 1)
#define OLD(bytes) cost_at(6, 1, 0x1000, bytes, sizeof(bytes) - 1)

static void test_emulated(void **state)
{
	(void)state;
	assert_int_equal(MEASURED("\x50"), COST_EMULATED); /* push %rax */
	assert_int_equal(MEASURED("\x55"), COST_EMULATED); /* push %rbp */
	assert_int_equal(MEASURED("\x41\x54"), COST_EMULATED); /* push %r12 */
	assert_int_equal(MEASURED("\x90"), COST_EMULATED); /* nop */
	assert_int_equal(MEASURED("\x66\x90"), COST_EMULATED);
	assert_int_equal(MEASURED("\x0f\x1f\x00"), COST_EMULATED);
	assert_int_equal(MEASURED("\x0f\x1f\x40\x00"), COST_EMULATED);
	assert_int_equal(MEASURED("\xeb\x00"), COST_EMULATED); /* jmp */
	assert_int_equal(MEASURED("\xe9\x00\x00\x00\x00"), COST_EMULATED);
	assert_int_equal(MEASURED("\x74\x10"), COST_EMULATED); /* je */
	assert_int_equal(MEASURED("\x0f\x84\x10\x00\x00\x00"), COST_EMULATED);
	assert_int_equal(MEASURED("\xe8\x00\x00\x00\x00"), COST_EMULATED); /* call */
}

static void test_stepped(void **state)
{
	(void)state;
	assert_int_equal(MEASURED("\xf3\x0f\x1e\xfa"), COST_STEPPED); /* endbr64 */
	assert_int_equal(MEASURED("\x48\x83\xec\x08"), COST_STEPPED); /* sub $8,%rsp */
	assert_int_equal(MEASURED("\x48\x89\xe5"), COST_STEPPED); /* mov %rsp,%rbp */
	assert_int_equal(MEASURED("\x48\x85\xff"), COST_STEPPED); /* test %rdi,%rdi */
	assert_int_equal(MEASURED("\x48\x83\xff\x01"), COST_STEPPED); /* cmp $1,%rdi */
	assert_int_equal(MEASURED("\x48\x8d\x47\x08"), COST_STEPPED); /* lea 8(%rdi),%rax */
	assert_int_equal(MEASURED("\x31\xc0"), COST_STEPPED); /* xor %eax,%eax */
	assert_int_equal(MEASURED("\xc3"), COST_STEPPED); /* ret */
	assert_int_equal(MEASURED("\x6a\x00"), COST_STEPPED); /* push $0 */
	assert_int_equal(MEASURED("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), COST_STEPPED);
}

/* Near misses of what is emulated. */
static void test_look_alikes(void **state)
{
	(void)state;
	assert_int_equal(MEASURED("\x48\x50"), COST_STEPPED); /* REX.W push: only 41 is taken */
	assert_int_equal(MEASURED("\x66\x50"), COST_STEPPED); /* push %ax */
	assert_int_equal(MEASURED("\x41\x90"), COST_STEPPED); /* xchg %r8,%rax */
	assert_int_equal(MEASURED("\xff\xf0"), COST_STEPPED); /* push %rax in its long form */
	assert_int_equal(MEASURED("\xff\xe0"), COST_STEPPED); /* jmp *%rax */
	assert_int_equal(MEASURED("\xe3\x00"), COST_STEPPED); /* jrcxz */
	assert_int_equal(MEASURED("\x0f\x94\xc0"), COST_STEPPED); /* sete %al */
}

/* Prefixes that uprobes refuse: the attach would fail. */
static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(MEASURED("\xf0\x48\x0f\xb1\x0f"), COST_UNKNOWN); /* lock cmpxchg */
	assert_int_equal(MEASURED("\x3e\xff\xe0"), COST_UNKNOWN); /* notrack jmp */
	assert_int_equal(MEASURED("\x2e\x74\x00"), COST_UNKNOWN); /* je with a hint */
	assert_int_equal(MEASURED("\x66\xe9\x00\x00"),
			 COST_STEPPED); /* length differs: not a jmp */
	assert_int_equal(MEASURED("\x66\xeb\x00"), COST_UNKNOWN); /* a 16-bit branch */
}

static void test_five_byte_nop(void **state)
{
	static const char nop5[] = "\x0f\x1f\x44\x00\x00";

	(void)state;
	assert_int_equal(cost_at(6, 18, 0x1000, nop5, 5), COST_OPTIMIZED);
	assert_int_equal(cost_at(6, 18, 0x1ffb, nop5, 5), COST_OPTIMIZED);
	/* Across a page it cannot be replaced at once. */
	assert_int_equal(cost_at(6, 18, 0x1ffc, nop5, 5), COST_EMULATED);
	assert_int_equal(cost_at(6, 17, 0x1000, nop5, 5), COST_EMULATED);
	assert_int_equal(cost_at(6, 15, 0x1000, nop5, 5), COST_STEPPED);
}

static void test_older_kernels(void **state)
{
	(void)state;
	assert_int_equal(OLD("\x55"), COST_EMULATED);
	assert_int_equal(OLD("\x74\x10"), COST_EMULATED);
	assert_int_equal(OLD("\x90"), COST_EMULATED);
	assert_int_equal(OLD("\x0f\x1f\x40\x00"), COST_STEPPED);
	assert_int_equal(cost_at(4, 20, 0, "\x55", 1), COST_STEPPED);
	assert_int_equal(cost_at(3, 15, 0, "\x74\x10", 2), COST_STEPPED);
}

#endif

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(probe_cost_name(COST_EMULATED), "emulated");
	assert_string_equal(probe_cost_name(COST_STEPPED), "single-stepped");
	assert_string_equal(probe_cost_name(COST_OPTIMIZED), "optimized");
	assert_string_equal(probe_cost_name(COST_UNKNOWN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_stepped),
		cmocka_unit_test(test_look_alikes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_five_byte_nop),
		cmocka_unit_test(test_older_kernels),
#endif
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
