/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of .eh_frame made by hand, and tables made of them. */
#ifndef TESTS_UNIT_FRAME_BUILDER_H
#define TESTS_UNIT_FRAME_BUILDER_H

#include <stdlib.h>
#include <string.h>

#include "elf_builder.h"
#include "unwind/cfi_table.h"

#define START 0x1000u
#define SIZE 0x100u
#define ROWS_MAX 4

#define UNSUPPORTED UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0)
#define ROOT UNWIND_RULE(UNWIND_CFA_ROOT, 0, 0, 0)
#define END UNWIND_RULE(UNWIND_CFA_END, 0, 0, 0)

#define ABSOLUTE 0x00
#define PCREL_SDATA4 0x1b
#define DATAREL_UDATA2 0x32

struct expected_row {
	uint32_t pc, rule;
};

static void append_number(struct buffer *buffer, uint64_t number, size_t bytes)
{
	buffer_append(buffer, &number, bytes);
}

/* An entry with its length in front, in the long form if asked for. */
static void append_entry(struct buffer *section, const struct buffer *body, bool is_long)
{
	append_number(section, is_long ? UINT32_MAX : body->length, 4);
	if (is_long)
		append_number(section, body->length, 8);
	buffer_append(section, body->data, body->length);
}

/* What an architecture's functions have in common: factors, return register, and the state in which calls leave a callee. */
struct frame_arch {
	uint8_t factors[3];
	uint8_t program[8];
	size_t length;
};

/* CFA = rsp + 8, return address at CFA - 8. */
static const struct frame_arch x86_64
	__attribute__((unused)) = { { 1, 0x78, 16 }, { 0x0c, 7, 8, 0x90, 1 }, 5 };
/* CFA = sp, return address in x30. */
static const struct frame_arch arm64
	__attribute__((unused)) = { { 4, 0x78, 30 }, { 0x0c, 31, 0 }, 3 };

static void append_cie(struct buffer *section, const struct frame_arch *arch,
		       const char *augmentation, uint8_t encoding)
{
	struct buffer body = { 0 };

	append_number(&body, 0, 4);
	append_number(&body, 1, 1);
	buffer_append(&body, augmentation, strlen(augmentation) + 1);
	buffer_append(&body, arch->factors, sizeof(arch->factors));
	append_number(&body, 1, 1);
	append_number(&body, encoding, 1);
	buffer_append(&body, arch->program, arch->length);
	append_entry(section, &body, false);
	buffer_free(&body);
}

/* An FDE of the CIE at offset 0, its addresses `width` bytes wide. */
static void append_fde(struct buffer *section, uint64_t start, uint64_t size, size_t width,
		       const uint8_t *program, size_t length, bool is_long)
{
	struct buffer body = { 0 };

	append_number(&body, section->length + (is_long ? 12 : 4), 4);
	append_number(&body, start, width);
	append_number(&body, size, width);
	append_number(&body, 0, 1);
	buffer_append(&body, program, length);
	append_entry(section, &body, is_long);
	buffer_free(&body);
}

/* Compile a section. By the section header its size is known; by the segment it ends in an empty entry. */
static int build(const struct buffer *section, bool by_section, bool by_segment,
		 struct cfi_table *table)
{
	struct elf_builder builder = { .frames = section->data,
				       .size = section->length,
				       .by_section = by_section,
				       .by_segment = by_segment };
	struct buffer bytes = { 0 };
	struct elf_image image;
	int error;

	elf_builder_write(&builder, &bytes);
	error = elf_image_open(bytes.data, bytes.length, ELF_LAYOUT_FILE, &image);
	if (!error)
		error = cfi_table_build(&image, table);
	buffer_free(&bytes);
	return error;
}

static void assert_rule(const struct cfi_table *table, uint64_t pc, uint32_t rule)
{
	assert_int_equal(UNWIND_ROW_RULE(cfi_table_find(table, pc)), rule);
}

/* Compile one function with this program. */
static void build_program(const struct frame_arch *arch, const char *augmentation,
			  const uint8_t *program, size_t length, struct cfi_table *table)
{
	struct buffer section = { 0 };

	append_cie(&section, arch, augmentation, ABSOLUTE);
	append_fde(&section, START, SIZE, 8, program, length, false);
	assert_int_equal(build(&section, true, false, table), 0);
	assert_int_equal(table->functions, 1);
	buffer_free(&section);
}

struct program_case {
	const char *name;
	uint8_t program[24];
	uint8_t length;
	struct expected_row rows[ROWS_MAX]; /* up to a row at pc 0 */
};

/* Compile each program: there are these rows, and no others. */
static void check_programs(const struct frame_arch *arch, const struct program_case *cases,
			   size_t count)
{
	size_t i, row;

	for (i = 0; i < count; i++) {
		const struct program_case *test = &cases[i];
		struct cfi_table table;

		build_program(arch, "zR", test->program, test->length, &table);
		for (row = 0; row < ROWS_MAX && test->rows[row].pc; row++)
			if (table.row_count < row + 2 ||
			    table.rows[row + 1] !=
				    UNWIND_ROW(test->rows[row].pc, test->rows[row].rule))
				fail_msg("%s: row %zu", test->name, row);
		if (table.row_count != row + 2 ||
		    table.rows[row + 1] != UNWIND_ROW(START + SIZE, END))
			fail_msg("%s: %u rows", test->name, table.row_count);
		cfi_table_free(&table);
	}
}

#endif
