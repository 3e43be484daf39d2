/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame to rows. Truth is section 6.4 of the DWARF 5 standard, and for the framing the Linux Standard Base;
 * entries are encoded and rows worked out by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "frame_builder.h"

#define SP(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_SAME, words, 0)
#define SP_BP(words, saved) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_AT_CFA, words, saved)
#define SP_LOST(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_UNKNOWN, words, 0)

static const struct program_case program_cases[] = {
	{ "nothing", { 0 }, 1, { { START, SP(1) } } },
	{ "push %rbp; mov %rsp,%rbp",
	  { 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6 },
	  8,
	  { { START, SP(1) },
	    { START + 1, SP_BP(2, -2) },
	    { START + 4, UNWIND_RULE(UNWIND_CFA_BP, UNWIND_BP_AT_CFA, 2, -2) } } },
	{ "remember and restore",
	  { 0x41, 0x0e, 32, 0x0a, 0x42, 0x0e, 8, 0x41, 0x0b },
	  9,
	  { { START, SP(1) }, { START + 1, SP(4) }, { START + 3, SP(1) }, { START + 4, SP(4) } } },
	{ "the expression of a PLT",
	  { 0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
	  14,
	  { { START, SP(1) }, { START + 1, UNWIND_RULE(UNWIND_CFA_PLT, UNWIND_BP_SAME, 11, 0) } } },
	{ "the expression of a PLT for IBT",
	  { 0x41, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22 },
	  14,
	  { { START, SP(1) }, { START + 1, UNWIND_RULE(UNWIND_CFA_PLT, UNWIND_BP_SAME, 10, 0) } } },
	{ "a realigned stack",
	  { 0x41, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0 },
	  11,
	  { { START, SP(1) },
	    { START + 1, UNWIND_RULE(UNWIND_CFA_BP_DEREF, UNWIND_BP_AT_BP, 1, 0) } } },
	{ "another expression",
	  { 0x41, 0x0f, 5, 0x77, 8, 0x06, 0x23, 8, 0x42, 0x0c, 7, 16 },
	  12,
	  { { START, SP(1) }, { START + 1, UNSUPPORTED }, { START + 3, SP(2) } } },
	{ "an offset survives an expression",
	  { 0x0e, 24, 0x41, 0x0f, 5, 0x77, 8, 0x06, 0x23, 8, 0x42, 0x0e, 40, 0x41, 0x0d, 7 },
	  16,
	  { { START, SP(3) }, { START + 1, UNSUPPORTED }, { START + 4, SP(5) } } },
	{ "the CFA in rax", { 0x0c, 0, 8 }, 3, { { START, UNSUPPORTED } } },
	{ "an outermost frame", { 0x07, 16 }, 2, { { START, ROOT } } },
	{ "the return address in a register", { 0x09, 16, 5 }, 3, { { START, UNSUPPORTED } } },
	{ "the return address elsewhere", { 0x90, 2 }, 2, { { START, UNSUPPORTED } } },
	{ "rbp in a register", { 0x09, 6, 3 }, 3, { { START, SP_LOST(1) } } },
	{ "rbp is the CFA", { 0x14, 6, 1 }, 3, { { START, SP_LOST(1) } } },
	{ "rbp computed", { 0x16, 6, 2, 0x77, 0 }, 5, { { START, SP_LOST(1) } } },
	{ "rbp undefined", { 0x07, 6 }, 2, { { START, SP_LOST(1) } } },
	{ "rbp saved, then the same, then saved, then restored",
	  { 0x86, 2, 0x41, 0x08, 6, 0x41, 0x86, 3, 0x41, 0xc6 },
	  10,
	  { { START, SP_BP(1, -2) },
	    { START + 1, SP(1) },
	    { START + 2, SP_BP(1, -3) },
	    { START + 3, SP(1) } } },
	{ "long forms of offset and restore",
	  { 0x05, 6, 2, 0x41, 0x11, 6, 0x7d, 0x41, 0x2f, 6, 4, 0x41, 0x06, 6 },
	  14,
	  { { START, SP_BP(1, -2) },
	    { START + 1, SP_BP(1, 3) },
	    { START + 2, SP_BP(1, 4) },
	    { START + 3, SP(1) } } },
	{ "signed CFA offsets",
	  { 0x13, 0x7e, 0x41, 0x12, 6, 0x7d },
	  6,
	  { { START, SP(2) }, { START + 1, UNWIND_RULE(UNWIND_CFA_BP, UNWIND_BP_SAME, 3, 0) } } },
	{ "a CFA below the stack pointer", { 0x13, 0x02 }, 2, { { START, UNSUPPORTED } } },
	{ "an offset that is no multiple of 8", { 0x0e, 12 }, 2, { { START, UNSUPPORTED } } },
	{ "the largest frame",
	  { 0x0e, 0xf8, 0xff, 0x3f },
	  4,
	  { { START, SP(UNWIND_CFA_OFFSET_MAX) } } },
	{ "a larger one", { 0x0e, 0x80, 0x80, 0x40 }, 4, { { START, UNSUPPORTED } } },
	{ "rbp saved at the far end", { 0x86, 0x80, 4 }, 3, { { START, SP_BP(1, -512) } } },
	{ "rbp saved too far away", { 0x86, 0x81, 4 }, 3, { { START, SP_LOST(1) } } },
	{ "bytes of arguments",
	  { 0x2e, 16, 0x41, 0x0e, 16 },
	  5,
	  { { START, SP(1) }, { START + 1, SP(2) } } },
	{ "a row for each width of a step",
	  { 0x02, 1, 0x0e, 16, 0x03, 1, 0, 0x0e, 24, 0x04, 1, 0, 0, 0, 0x0e, 32 },
	  16,
	  { { START, SP(1) }, { START + 1, SP(2) }, { START + 2, SP(3) }, { START + 3, SP(4) } } },
	{ "a step of 8 bytes' width, then to an address",
	  { 0x1d, 2, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16, 0x01, START & 0xff, START >> 8 | 1 },
	  20,
	  { { START, SP(1) }, { START + 2, SP(2) } } },
	{ "a step over the end", { 0x03, 0, 2, 0x0e, 16 }, 5, { { START, SP(1) } } },
	{ "a step that wraps",
	  { 0x1d, 255, 255, 255, 255, 255, 255, 255, 255, 0x0e, 16 },
	  11,
	  { { START, SP(1) } } },
	{ "an unknown instruction",
	  { 0x41, 0x0e, 16, 0x42, 0x3f, 0x41, 0x0e, 24 },
	  8,
	  { { START, SP(1) }, { START + 1, SP(2) }, { START + 3, UNSUPPORTED } } },
	{ "a restore of nothing",
	  { 0x42, 0x0b },
	  2,
	  { { START, SP(1) }, { START + 2, UNSUPPORTED } } },
	{ "a way back", { 0x42, 0x01, 1 }, 10, { { START, SP(1) }, { START + 2, UNSUPPORTED } } },
	{ "an operand cut off",
	  { 0x42, 0x0e, 0x80 },
	  3,
	  { { START, SP(1) }, { START + 2, UNSUPPORTED } } },
	{ "an expression cut off",
	  { 0x42, 0x0f, 200, 1, 0x77 },
	  5,
	  { { START, SP(1) }, { START + 2, UNSUPPORTED } } },
};

static void test_instructions(void **state)
{
	(void)state;
	check_programs(&x86_64, program_cases, sizeof(program_cases) / sizeof(program_cases[0]));
}

/* The limit on nesting ends in a row that says so, not in memory that is not there. */
static void test_remember_too_deep(void **state)
{
	uint8_t program[1000];
	struct cfi_table table;

	(void)state;
	memset(program, 0x0a, sizeof(program));
	program[0] = 0x41;
	build_program(&x86_64, "zR", program, sizeof(program), &table);
	assert_rule(&table, START, SP(1));
	assert_rule(&table, START + 1, UNSUPPORTED);
	assert_rule(&table, START + SIZE - 1, UNSUPPORTED);
	assert_rule(&table, START + SIZE, END);
	cfi_table_free(&table);
}

/* Only a frame marked as the kernel's, whose CFA is where the kernel's ucontext keeps rsp, is a signal frame. */
static void test_signal_frame(void **state)
{
	static const uint8_t program[] = { 0x0f, 4, 0x77, 0xa0, 1, 0x06 };
	static const uint8_t other[] = { 0x0f, 4, 0x77, 0xa8, 1, 0x06 };
	struct cfi_table table;

	(void)state;
	build_program(&x86_64, "zRS", program, sizeof(program), &table);
	assert_rule(&table, START, UNWIND_RULE(UNWIND_CFA_SIGNAL, 0, 0, 0));
	cfi_table_free(&table);
	build_program(&x86_64, "zR", program, sizeof(program), &table);
	assert_rule(&table, START, UNSUPPORTED);
	cfi_table_free(&table);
	build_program(&x86_64, "zRS", other, sizeof(other), &table);
	assert_rule(&table, START, UNSUPPORTED);
	cfi_table_free(&table);
}

/* Relative addresses, and the long form of an entry's length. */
static void test_encodings(void **state)
{
	static const uint8_t program[] = { 0x41, 0x0e, 16 };
	struct buffer section = { 0 };
	struct cfi_table table;
	uint64_t field;

	(void)state;
	append_cie(&section, &x86_64, "zR", PCREL_SDATA4);
	field = ELF_BUILDER_ADDRESS + ELF_BUILDER_FRAMES + section.length + 8;
	append_fde(&section, START - field, SIZE, 4, program, sizeof(program), false);
	field = ELF_BUILDER_ADDRESS + ELF_BUILDER_FRAMES + section.length + 16;
	append_fde(&section, START + 2 * SIZE - field, SIZE, 4, program, sizeof(program), true);
	assert_int_equal(build(&section, true, false, &table), 0);
	assert_int_equal(table.functions, 2);
	assert_int_equal(table.skipped, 0);
	assert_rule(&table, START, SP(1));
	assert_rule(&table, START + 1, SP(2));
	assert_rule(&table, START + SIZE, END);
	assert_rule(&table, START + 2 * SIZE, SP(1));
	assert_rule(&table, START + 3 * SIZE - 1, SP(2));
	cfi_table_free(&table);
	buffer_clear(&section);
	append_cie(&section, &x86_64, "zR", DATAREL_UDATA2);
	append_fde(&section, 0x123, SIZE, 2, program, sizeof(program), false);
	assert_int_equal(build(&section, true, false, &table), 0);
	assert_rule(&table, ELF_BUILDER_GOT + 0x122, END);
	assert_rule(&table, ELF_BUILDER_GOT + 0x123, SP(1));
	cfi_table_free(&table);
	buffer_free(&section);
}

/* Without section headers PT_GNU_EH_FRAME leads there, and an empty entry ends the section. */
static void test_ways_to_the_section(void **state)
{
	struct buffer section = { 0 };
	struct cfi_table table;

	(void)state;
	append_cie(&section, &x86_64, "zR", ABSOLUTE);
	append_fde(&section, START, SIZE, 8, NULL, 0, false);
	append_number(&section, 0, 4);
	append_fde(&section, START + SIZE, SIZE, 8, NULL, 0, false);
	assert_int_equal(build(&section, false, true, &table), 0);
	assert_int_equal(table.functions, 1);
	cfi_table_free(&table);
	assert_int_equal(build(&section, true, true, &table), 0);
	assert_int_equal(table.functions, 2);
	cfi_table_free(&table);
	assert_int_equal(build(&section, false, false, &table), -ENODATA);
	buffer_free(&section);
}

/* What cannot be understood is skipped and counted; the rest is not lost. */
static void test_damaged_entries(void **state)
{
	static const uint8_t unknown_cie[] = { 14, 0, 0,    0,	0, 0, 0, 0, 9,
					       0,  1, 0x78, 16, 0, 0, 0, 0, 0 };
	struct buffer section = { 0 };
	struct cfi_table table;

	(void)state;
	append_cie(&section, &x86_64, "zR", ABSOLUTE);
	append_fde(&section, START, SIZE, 8, NULL, 0, false);
	append_fde(&section, UINT64_MAX - 4, 8, 8, NULL, 0, false);
	append_fde(&section, 0xffffff00, SIZE, 8, NULL, 0, false);
	append_number(&section, 4, 4);
	append_number(&section, 3, 4);
	buffer_append(&section, unknown_cie, sizeof(unknown_cie));
	append_fde(&section, START + SIZE, 0, 8, NULL, 0, false);
	append_number(&section, 1000, 4);
	append_number(&section, 0, 8);
	assert_int_equal(build(&section, true, false, &table), 0);
	assert_int_equal(table.skipped, 5);
	assert_rule(&table, START, SP(1));
	assert_rule(&table, START + SIZE, END);
	cfi_table_free(&table);
	buffer_free(&section);
}

/* Where two functions claim the same bytes, the one that starts first has them. */
static void test_overlap(void **state)
{
	static const uint8_t first[] = { 0x0e, 16 };
	static const uint8_t second[] = { 0x0e, 24, 0x70, 0x0e, 32, 0x7f, 0x7f, 0x7f, 0x0e, 40 };
	struct buffer section = { 0 };
	struct cfi_table table;

	(void)state;
	append_cie(&section, &x86_64, "zR", ABSOLUTE);
	append_fde(&section, START + 0x20, 0x80, 8, second, sizeof(second), false);
	append_fde(&section, START, 0x60, 8, first, sizeof(first), false);
	append_fde(&section, START + 0x10, 0x20, 8, NULL, 0, false);
	assert_int_equal(build(&section, true, false, &table), 0);
	assert_rule(&table, START, SP(2));
	assert_rule(&table, START + 0x5f, SP(2));
	assert_rule(&table, START + 0x60, SP(4));
	assert_rule(&table, START + 0x9f, SP(4));
	assert_rule(&table, START + 0xa0, END);
	cfi_table_free(&table);
	buffer_free(&section);
}

static void test_not_an_image(void **state)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32 };
	struct elf_image image;

	(void)state;
	assert_int_equal(elf_image_open(bytes, 0, ELF_LAYOUT_FILE, &image), -ENOEXEC);
	assert_int_equal(elf_image_open(bytes, 3, ELF_LAYOUT_FILE, &image), -ENOEXEC);
	assert_int_equal(elf_image_open(bytes, sizeof(bytes), ELF_LAYOUT_FILE, &image), -ENOEXEC);
}

/* The bias is what /proc/PID/maps and the program headers of the same mapping differ by. */
static void test_bias(void **state)
{
	struct buffer section = { 0 }, bytes = { 0 };
	struct elf_builder builder;
	struct elf_code codes[ELF_CODES_MAX];
	struct elf_image image;
	unsigned int count;
	uint64_t bias = 1;

	(void)state;
	append_number(&section, 0, 8);
	builder = (struct elf_builder){ .frames = section.data, .size = section.length };
	elf_builder_write(&builder, &bytes);
	assert_int_equal(elf_image_open(bytes.data, bytes.length, ELF_LAYOUT_FILE, &image), 0);
	count = elf_image_codes(&image, codes);
	assert_true(elf_code_bias(codes, count, 0x7f0000000000, 0, &bias));
	assert_true(bias == 0x7f0000000000 - ELF_BUILDER_ADDRESS);
	assert_true(elf_code_bias(codes, count, 0x7f0000000200, 0x200, &bias));
	assert_true(bias == 0x7f0000000000 - ELF_BUILDER_ADDRESS);
	assert_false(elf_code_bias(codes, count, 0x7f0000000000, 0x1000, &bias));
	buffer_free(&section);
	buffer_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_remember_too_deep),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_ways_to_the_section),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_not_an_image),
		cmocka_unit_test(test_bias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
