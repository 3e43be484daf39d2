/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions by the table that a file has in memory. Truth: this program's own functions, whose addresses the compiler
 * knows; and tables made by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "interp/function_range.h"

#define IMAGE 0x10000ull
#define TABLE 0x200u
#define FUNCTIONS 5u

struct fake {
	uint8_t bytes[4096];
};

static bool fake_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct fake *fake = context;
	uint64_t offset = address - IMAGE;

	if (offset > sizeof(fake->bytes) || size > sizeof(fake->bytes) - offset)
		return false;
	memcpy(bytes, fake->bytes + offset, size);
	return true;
}

static bool find(struct fake *fake, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct target_memory memory = { fake_read, fake };

	return function_range_find(&memory, IMAGE, address, start, end);
}

/* Functions begin at 0x400, 0x410, ... of a file that is linked to 0x7000 and has its first page at offset 0. */
static void make(struct fake *fake)
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
			      .e_phoff = sizeof(header),
			      .e_phnum = 2,
			      .e_phentsize = sizeof(Elf64_Phdr) };
	Elf64_Phdr segments[2] = { { .p_type = PT_LOAD, .p_vaddr = 0x7000 },
				   { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x7000 + TABLE } };
	const uint8_t encodings[4] = { 1, 0x1b, 0x03, 0x3b };
	const uint32_t count = FUNCTIONS;
	uint32_t i;

	memset(fake, 0, sizeof(*fake));
	memcpy(fake->bytes, &header, sizeof(header));
	memcpy(fake->bytes + sizeof(header), segments, sizeof(segments));
	memcpy(fake->bytes + TABLE, encodings, sizeof(encodings));
	memcpy(fake->bytes + TABLE + 8, &count, sizeof(count));
	for (i = 0; i < FUNCTIONS; i++) {
		const int32_t entry[2] = { (int32_t)(0x400 + 0x10 * i - TABLE), 0 };

		memcpy(fake->bytes + TABLE + 12 + 8ul * i, entry, sizeof(entry));
	}
}

static void test_made(void **state)
{
	uint64_t start = 0, end = 0, at;
	struct fake fake;

	(void)state;
	make(&fake);
	for (at = IMAGE + 0x400; at < IMAGE + 0x400 + 0x10 * (FUNCTIONS - 1); at++) {
		assert_true(find(&fake, at, &start, &end));
		assert_int_equal(start, at & ~15ull);
		assert_int_equal(end, start + 16);
	}
}

static void test_outside(void **state)
{
	uint64_t start = 1, end = 2;
	struct fake fake;

	(void)state;
	make(&fake);
	assert_false(find(&fake, IMAGE + 0x3ff, &start, &end));
	/* The last one may have any length. */
	assert_false(find(&fake, IMAGE + 0x400 + 0x10 * (FUNCTIONS - 1), &start, &end));
	assert_false(find(&fake, 0, &start, &end));
	assert_false(find(&fake, UINT64_MAX, &start, &end));
	assert_int_equal(start, 1);
	assert_int_equal(end, 2);
}

/* Each byte of the headers, and each length of what can be read: no answer, or one that holds the address. */
static void test_hostile(void **state)
{
	uint64_t start, end, address = IMAGE + 0x415;
	struct fake fake;
	size_t i, value;

	(void)state;
	for (i = 0; i < TABLE + 12 + 8ul * FUNCTIONS; i++) {
		for (value = 0; value < 256; value += 51) {
			make(&fake);
			fake.bytes[i] = (uint8_t)value;
			if (find(&fake, address, &start, &end))
				assert_true(start <= address && address < end);
		}
	}
	make(&fake);
	memset(fake.bytes + TABLE + 8, 0xff, 4);
	assert_false(find(&fake, address, &start, &end));
	memset(fake.bytes, 0, sizeof(fake.bytes));
	assert_false(find(&fake, address, &start, &end));
	memset(fake.bytes, 0xff, sizeof(fake.bytes));
	assert_false(find(&fake, address, &start, &end));
}

static bool own_read(void *context, uint64_t address, void *bytes, size_t size)
{
	(void)context;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return true;
}

static int first_image(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t *image = context;

	(void)size;
	/* The first one is the program, whose headers are in its first page. */
	*image = (uint64_t)(uintptr_t)info->dlpi_phdr & ~4095ull;
	return 1;
}

static void test_own(void **state)
{
	static void (*const functions[])(void **) = { test_made, test_outside, test_hostile };
	struct target_memory memory = { own_read, NULL };
	uint64_t image = 0, start, end;
	size_t i;

	(void)state;
	dl_iterate_phdr(first_image, &image);
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		uint64_t function = (uint64_t)(uintptr_t)functions[i];

		assert_true(function_range_find(&memory, image, function + 20, &start, &end));
		assert_int_equal(start, function);
		assert_true(end > function + 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
