/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the procedure linkage table. The truth: the names that the test has written into a file of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fake_elf_file.h"
#include "fake_plt.h"
#include "elf/elf_plt.h"

#define SIZE 0x2000
#define BASE 0x1000

static const char *const names[] = { "free", "malloc", "mi_free" };

static int setup(void **state)
{
	uint8_t *bytes = calloc(1, SIZE);

	*state = bytes;
	if (bytes)
		fake_plt_write(bytes, SIZE, BASE, names, 3);
	return bytes == NULL;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct elf_file file_of(void **state)
{
	return (struct elf_file){ .bytes = *state, .size = SIZE };
}

#if defined(__x86_64__)

static void assert_name(void **state, uint64_t offset, const char *expected)
{
	struct elf_file file = file_of(state);
	char name[ELF_PLT_NAME_MAX];

	assert_true(elf_plt_name(&file, offset, name));
	assert_string_equal(name, expected);
}

static void test_names(void **state)
{
	size_t i;

	for (i = 0; i < 3; i++)
		assert_name(state, fake_plt_entry(BASE, i), names[i]);
}

/* endbr64; bnd jmp *distance(%rip): the same slot, from five bytes further on. */
static void test_indirect_branch_tracking(void **state)
{
	uint8_t *entry = (uint8_t *)*state + fake_plt_entry(BASE, 1);
	int32_t distance;

	memcpy(&distance, entry + 2, sizeof(distance));
	distance -= 5;
	memcpy(entry, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7);
	memcpy(entry + 7, &distance, sizeof(distance));
	assert_name(state, fake_plt_entry(BASE, 1), "malloc");
}

/* Entries that are bound at start have their relocations among the others. */
static void test_bound_at_start(void **state)
{
	Elf64_Dyn *dynamic = (Elf64_Dyn *)((uint8_t *)*state + BASE + FAKE_DYNAMIC);
	Elf64_Rela *relocations = (Elf64_Rela *)((uint8_t *)*state + BASE + FAKE_RELOCATIONS);

	dynamic[2].d_tag = DT_RELA;
	dynamic[3].d_tag = DT_RELASZ;
	relocations[2].r_info = ELF64_R_INFO(3, R_X86_64_GLOB_DAT);
	assert_name(state, fake_plt_entry(BASE, 2), "mi_free");
}

#endif

static void assert_none(void **state, uint64_t offset)
{
	struct elf_file file = file_of(state);
	char name[ELF_PLT_NAME_MAX] = "untouched";

	assert_false(elf_plt_name(&file, offset, name));
	assert_string_equal(name, "untouched");
}

static void test_no_entry(void **state)
{
	assert_none(state, fake_plt_entry(BASE, 3));
	assert_none(state, fake_plt_entry(BASE, 0) + 1);
	assert_none(state, SIZE);
	assert_none(state, UINT64_MAX);
}

static void test_other_relocation(void **state)
{
	Elf64_Rela *relocations = (Elf64_Rela *)((uint8_t *)*state + BASE + FAKE_RELOCATIONS);

	relocations[0].r_info = ELF64_R_INFO(1, R_X86_64_RELATIVE);
	assert_none(state, fake_plt_entry(BASE, 0));
}

static void test_long_name(void **state)
{
	memset((uint8_t *)*state + BASE + FAKE_STRINGS, 'x', 200);
	assert_none(state, fake_plt_entry(BASE, 0));
}

/* Every byte that leads to the names, damaged in turn: no answer or another one, but no access outside. */
static void test_damage(void **state)
{
	char name[ELF_PLT_NAME_MAX];
	size_t at, size;

	for (at = 0; at < SIZE; at++) {
		struct elf_file file = file_of(state);
		uint8_t *byte = (uint8_t *)*state + at, saved = *byte;

		*byte ^= 0xff;
		elf_plt_name(&file, fake_plt_entry(BASE, 0), name);
		*byte = saved;
	}
	for (size = 0; size < SIZE; size += 7) {
		struct elf_file file = { .bytes = *state, .size = size };

		elf_plt_name(&file, fake_plt_entry(BASE, 0), name);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		TEST(test_names),
		TEST(test_indirect_branch_tracking),
		TEST(test_bound_at_start),
#endif
		TEST(test_no_entry),
		TEST(test_other_relocation),
		TEST(test_long_name),
		TEST(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
