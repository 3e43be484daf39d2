/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the probed instruction. The truth for real functions is tests/data/functions/sites.txt, which a
 * person has checked against objdump's disassembly; the small ones here were assembled by hand for one rule each.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/allocator.h"
#include "probe/choice.h"

#if defined(__x86_64__)

#define FUNCTIONS "tests/data/functions/"

static struct choice_needs needs_for(uint32_t arguments)
{
	return (struct choice_needs){
		.arguments = arguments,
		.stack_pointer = true,
		.features = probe_features_for_kernel(6, 18),
	};
}

static struct choice choose(const char *bytes, size_t size, const struct choice_needs *needs)
{
	struct choice choice;

	choice_make((const uint8_t *)bytes, size, true, 0x1000, needs, &choice);
	return choice;
}

/* The site in a function that takes a pointer (argument 1) and a size (argument 2). */
#define SITE(bytes)                                                                  \
	((int)choose(bytes, sizeof(bytes) - 1,                                       \
		     &(struct choice_needs){ .arguments = 6,                         \
					     .stack_pointer = true,                  \
					     .features = probe_features_default() }) \
		 .offset)

/* One function of a fixture. */
struct fixture {
	uint8_t *code;
	size_t size;
	uint64_t address;
};

static struct fixture fixture_parse(char *hex, uint64_t address)
{
	struct fixture fixture = { .size = strlen(hex) / 2, .address = address };
	size_t i;

	/* Exactly as many bytes as the function has, so that a read behind it is caught. */
	fixture.code = malloc(fixture.size);
	assert_non_null(fixture.code);
	for (i = 0; i < fixture.size; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &fixture.code[i]), 1);
	return fixture;
}

/* The function of a library whose first name is `symbol`. */
static struct fixture fixture_load(const char *library, const char *symbol)
{
	struct fixture fixture = { 0 };
	char path[256], *line = NULL, *names, *address, *hex;
	size_t capacity = 0;
	FILE *file;

	snprintf(path, sizeof(path), FUNCTIONS "%s.txt", library);
	file = fopen(path, "r");
	assert_non_null(file);
	while (!fixture.code && getline(&line, &capacity, file) > 0) {
		names = strtok(line, " ");
		address = strtok(NULL, " ");
		hex = strtok(NULL, "\n");
		names[strcspn(names, ",")] = '\0';
		if (strcmp(names, symbol) == 0)
			fixture = fixture_parse(hex, strtoull(address, NULL, 16));
	}
	free(line);
	fclose(file);
	assert_non_null(fixture.code);
	return fixture;
}

static uint64_t shape_of(const char *symbol)
{
	const struct allocator_function *row;

	for (row = allocator_functions(); row->symbol; row++)
		if (strcmp(row->symbol, symbol) == 0)
			return row->shape;
	fail_msg("%s is not in the table", symbol);
	return 0;
}

static void check_site(const char *library, const char *symbol, unsigned int offset,
		       const char *cost, const char *mnemonic)
{
	struct choice_needs needs = needs_for(allocator_arguments(shape_of(symbol)));
	struct fixture fixture = fixture_load(library, symbol);
	struct choice choice;

	choice_make(fixture.code, fixture.size, true, fixture.address, &needs, &choice);
	free(fixture.code);
	if (choice.offset != offset || strcmp(probe_cost_name(choice.cost), cost) != 0)
		fail_msg("%s %s: +%u %s expected, got +%u %s (%s)", library, symbol, offset, cost,
			 (unsigned int)choice.offset, probe_cost_name(choice.cost), choice.reason);
	assert_memory_equal(choice.instruction, mnemonic, strlen(mnemonic));
	assert_true(*choice.reason);
}

static void test_real_functions(void **state)
{
	char line[256], library[64], symbol[64], cost[32], mnemonic[32];
	FILE *file = fopen(FUNCTIONS "sites.txt", "r");
	unsigned int offset;
	int functions = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (*line == '#')
			continue;
		assert_int_equal(sscanf(line, "%63s %63s %u %31s %31s", library, symbol, &offset,
					cost, mnemonic),
				 5);
		check_site(library, symbol, offset, cost, mnemonic);
		functions++;
	}
	fclose(file);
	assert_true(functions > 90);
}

/* glibc 2.31's free first makes room on the stack, which matters only where the stack pointer does. */
static void test_free_without_stack(void **state)
{
	struct fixture fixture = fixture_load("glibc-2.31", "free");
	struct choice_needs needs = needs_for(1 << 1);
	struct choice choice;

	(void)state;
	needs.stack_pointer = false;
	choice_make(fixture.code, fixture.size, true, fixture.address, &needs, &choice);
	free(fixture.code);
	assert_int_equal(choice.offset, 17);
	assert_int_equal(choice.stack_bytes, 0x18);
	assert_int_equal(choice.cost, COST_EMULATED);
	/* Two REX prefixes before the sub; a push, which is stepped; a sub that leaves the stack uneven. */
	assert_int_equal(choose("\x40\x48\x83\xec\x08\x53\xc3", 7, &needs).offset, 0);
	assert_int_equal(choose("\x6a\x00\x53\xc3", 4, &needs).offset, 0);
	assert_int_equal(choose("\x48\x83\xec\x09\x53\xc3", 6, &needs).offset, 0);
	assert_int_equal(choose("\x48\x83\xec\x08\x53\xc3", 6, &needs).offset, 4);
	/* As much room as a shape can say, and more, which would have become another function's number. */
	assert_int_equal(choose("\x48\x81\xec\xf8\x00\x00\x00\x53\xc3", 9, &needs).offset, 7);
	assert_int_equal(choose("\x48\x81\xec\x00\x01\x00\x00\x53\xc3", 9, &needs).offset, 0);
}

/* A build for indirect branch tracking: endbr64, push %rbx, mov %rdi,%rbx, pop %rbx, ret. */
static void test_endbr64(void **state)
{
	(void)state;
	assert_int_equal(SITE("\xf3\x0f\x1e\xfa\x53\x48\x89\xfb\x5b\xc3"), 4);
}

static void test_emulated_entry_stays(void **state)
{
	(void)state;
	assert_int_equal(SITE("\x53\x5b\xc3"), 0);
}

/* A push before the cheaper instruction moves the stack pointer; `push $0` itself is stepped. */
static void test_stack_pointer(void **state)
{
	(void)state;
	assert_int_equal(SITE("\x6a\x00\x53\x5b\x5b\xc3"), 0);
	assert_int_equal(SITE("\x48\x83\xec\x08\x53\x5b\x48\x83\xc4\x08\xc3"), 0); /* sub */
	assert_int_equal(SITE("\x48\x89\xc4\x53\x5b\xc3"), 0); /* mov %rax,%rsp */
	assert_int_equal(SITE("\x48\x8d\x64\x24\xf8\x53\xc3"), 0); /* lea -8(%rsp),%rsp */
	assert_int_equal(SITE("\x48\x89\x04\x24\x53\x5b\xc3"), 0); /* mov %rax,(%rsp) */
	assert_int_equal(SITE("\x48\x8b\x04\x24\x53\x5b\xc3"), 4); /* mov (%rsp),%rax only reads */
}

static void test_arguments(void **state)
{
	(void)state;
	assert_int_equal(SITE("\x48\x89\xf8\x53\x5b\xc3"), 3); /* mov %rdi,%rax */
	assert_int_equal(SITE("\x48\x89\xc7\x53\x5b\xc3"), 0); /* mov %rax,%rdi */
	assert_int_equal(SITE("\x89\xc7\x53\x5b\xc3"), 0); /* mov %eax,%edi */
	assert_int_equal(SITE("\x40\xb7\x01\x53\x5b\xc3"), 0); /* mov $1,%dil */
	assert_int_equal(SITE("\x66\xff\xc6\x53\x5b\xc3"), 0); /* inc %si: a prefix, too */
	assert_int_equal(SITE("\xff\xc6\x53\x5b\xc3"), 0); /* inc %esi */
	assert_int_equal(SITE("\xff\xc2\x53\x5b\xc3"), 2); /* inc %edx is read by nobody */
	assert_int_equal(SITE("\x48\x87\xf8\x53\x5b\xc3"), 0); /* xchg %rdi,%rax */
	assert_int_equal(SITE("\xa4\x53\x5b\xc3"), 0); /* movsb moves both pointers */
	assert_int_equal(SITE("\x48\x0f\x44\xf8\x53\x5b\xc3"), 0); /* cmove %rax,%rdi */
}

/* Nothing may run into the site from elsewhere: xor %eax,%eax, push %rbx, ..., a jump back, ret. */
static void test_jumps_of_the_function(void **state)
{
	(void)state;
	/* To the entry: a probe there would fire again, too. */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x75\xfa\xc3"), 2);
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x75\xfc\xc3"), 0); /* to the push itself */
	assert_int_equal(SITE("\x31\xc0\x31\xc9\x53\x5b\x75\xfa\xc3"), 0); /* between the two */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x75\xfd\xc3"), 2); /* behind the push */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x75\x01\x90\xc3"), 2); /* forward */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xe2\xfc\xc3"), 0); /* loop */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xe3\xfc\xc3"), 0); /* jrcxz */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x0f\x85\xf8\xff\xff\xff\xc3"), 0); /* a long one */
}

static void test_doubts(void **state)
{
	(void)state;
	/* xor %eax,%eax; push %rbx; then: */
	assert_int_equal(SITE("\x31\xc0\x53\xff\xe0\xc3"), 0); /* jmp *%rax */
	assert_int_equal(SITE("\x31\xc0\x53\x3e\xff\xe0\xc3"), 0); /* notrack jmp *%rax */
	assert_int_equal(SITE("\x31\xc0\x53\xff\x24\xc5\x00\x00\x00\x00\xc3"), 0); /* a table */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xff\xe0\xc3"), 2); /* pop first: a tail call */
	/* ... but not where the jump can be reached without the pop. */
	assert_int_equal(SITE("\x31\xc0\x53\x75\x01\x5b\xff\xe0\xc3"), 0);
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x89\xc1\xff\xe0"), 0); /* mov %eax,%ecx first */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\x06\xc3"), 0); /* no such instruction */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xc3\x48"), 0); /* cut off in the last one */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xeb\x01\xb8\xc3\x00\x00\x00"), 0); /* into one */
	assert_int_equal(SITE("\x31\xc0\x53\x5b\xeb\x10"), 0); /* a short jump to elsewhere */
	assert_int_equal(SITE("\x31\xc0\x53\x48\x8d\x05\xf8\xff\xff\xff\xc3"), 0); /* lea of it */
	assert_int_equal(SITE("\x31\xc0\x53\x48\x8d\x05\x00\x00\x00\x00\xc3"), 2);
}

static void test_barriers(void **state)
{
	(void)state;
	assert_int_equal(SITE("\x0f\x05\x53\x5b\xc3"), 0); /* syscall */
	assert_int_equal(SITE("\xc3\x53\x5b\xc3"), 0); /* ret */
	assert_int_equal(SITE("\xff\xd0\x53\x5b\xc3"), 0); /* call *%rax */
	assert_int_equal(SITE("\xcc\x53\x5b\xc3"), 0); /* int3 */
	assert_int_equal(SITE("\x8e\xd8\x53\x5b\xc3"), 0); /* mov %eax,%ds */
	assert_int_equal(SITE("\x48\x48\x89\xc0\x53\x5b\xc3"), 0); /* two REX prefixes */
	assert_int_equal(SITE("\x31\xc0\x41\x74\x00\xc3"), 0); /* je with a REX prefix */
	assert_int_equal(SITE("\x31\xc0\x64\xeb\x00\xc3"), 0); /* jmp with a segment prefix */
	assert_int_equal(SITE("\xf0\x48\xff\x00\x53\x5b\xc3"), 0); /* lock incq (%rax) */
	assert_int_equal(SITE("\xc7\xf8\x00\x00\x00\x00\x53\x5b\xc3"), 0); /* xbegin */
}

/* The five-byte nop is the best of all at the entry, and no site anywhere else. */
static void test_nops(void **state)
{
	struct choice_needs needs = needs_for(1 << 1);

	(void)state;
	assert_int_equal(choose("\x0f\x1f\x44\x00\x00\x53\x5b\xc3", 8, &needs).offset, 0);
	assert_int_equal(choose("\x0f\x1f\x44\x00\x00\x53\x5b\xc3", 8, &needs).cost,
			 COST_OPTIMIZED);
	assert_int_equal(choose("\x31\xc0\x0f\x1f\x44\x00\x00\x53\x5b\xc3", 10, &needs).offset, 7);
	assert_int_equal(choose("\x31\xc0\x90\x53\x5b\xc3", 6, &needs).offset, 3);
}

static void test_leaves(void **state)
{
	struct choice_needs needs = needs_for(1 << 1);
	struct choice choice;

	(void)state;
	choice = choose("\x31\xc0\x0f\x85\x00\x10\x00\x00\xc3", 9, &needs);
	assert_int_equal(choice.offset, 2);
	assert_true(choice.leaves);
	choice_fall_back((const uint8_t *)"\x31\xc0\x0f\x85\x00\x10\x00\x00\xc3", 9, 0x1000, &needs,
			 "a test", &choice);
	assert_int_equal(choice.offset, 0);
	assert_false(choice.leaves);
	assert_int_equal(choice.cost, COST_STEPPED);
	assert_string_equal(choice.reason, "a test");
	assert_string_equal(choice.instruction, "xorl %eax, %eax");
	choice = choose("\x31\xc0\x53\xe8\x00\x10\x00\x00\x5b\xc3", 10, &needs);
	assert_int_equal(choice.offset, 2);
	assert_false(choice.leaves);
}

static void test_stubs(void **state)
{
	struct choice_needs needs = needs_for(1 << 1);

	(void)state;
	assert_true(choose("\xe9\xfb\x0f\x00\x00", 5, &needs).stub);
	assert_int_equal(choose("\xe9\xfb\x0f\x00\x00", 5, &needs).stub_target, 0x1000);
	assert_int_equal(choose("\xeb\xf0", 2, &needs).stub_target, -14);
	assert_int_equal(choose("\xf3\x0f\x1e\xfa\xe9\x07\x00\x00\x00", 9, &needs).stub_target, 16);
	assert_int_equal(choose("\xf2\xe9\x04\x00\x00\x00", 6, &needs).stub_target, 10);
	assert_false(choose("\x31\xc0\xe9\x00\x00\x00\x00", 7, &needs).stub);
	assert_false(choose("\xe9\x00\x00", 3, &needs).stub);
}

static void test_uncertain_size(void **state)
{
	static const uint8_t code[] = { 0x31, 0xc0, 0x53, 0x5b, 0xc3 };
	struct choice_needs needs = needs_for(1 << 1);
	uint8_t *large = calloc(1, CHOICE_SIZE_MAX + 1);
	struct choice choice;

	(void)state;
	choice_make(code, sizeof(code), false, 0, &needs, &choice);
	assert_int_equal(choice.offset, 0);
	choice_make(code, 0, false, 0, &needs, &choice);
	assert_int_equal(choice.offset, 0);
	assert_string_equal(choice.instruction, "");
	assert_non_null(large);
	memset(large, 0x90, CHOICE_SIZE_MAX + 1);
	memcpy(large, code, 4);
	choice_make(large, CHOICE_SIZE_MAX, true, 0, &needs, &choice);
	assert_int_equal(choice.offset, 2);
	choice_make(large, CHOICE_SIZE_MAX + 1, true, 0, &needs, &choice);
	assert_int_equal(choice.offset, 0);
	free(large);
}

static void test_at_entry(void **state)
{
	struct choice_needs needs = needs_for(1 << 1);

	(void)state;
	needs.at_entry = true;
	assert_int_equal(choose("\x31\xc0\x53\x5b\xc3", 5, &needs).offset, 0);
}

/* A kernel that steps everything leaves nothing to gain. */
static void test_kernel_without_emulation(void **state)
{
	struct choice_needs needs = needs_for(1 << 1);

	(void)state;
	needs.features = (struct probe_features){ 0 };
	assert_int_equal(choose("\x31\xc0\x53\x5b\xc3", 5, &needs).offset, 0);
	needs.features.emulates_push = true;
	assert_int_equal(choose("\x31\xc0\x53\x5b\xc3", 5, &needs).offset, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_functions),
		cmocka_unit_test(test_free_without_stack),
		cmocka_unit_test(test_endbr64),
		cmocka_unit_test(test_emulated_entry_stays),
		cmocka_unit_test(test_stack_pointer),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_jumps_of_the_function),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_barriers),
		cmocka_unit_test(test_nops),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_uncertain_size),
		cmocka_unit_test(test_at_entry),
		cmocka_unit_test(test_kernel_without_emulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_entry(void **state)
{
	struct choice_needs needs = { .stack_pointer = true };
	struct choice choice;

	(void)state;
	choice_make((const uint8_t *)"\0\0\0\0", 4, true, 0, &needs, &choice);
	assert_int_equal(choice.offset, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_entry) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
