/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .eh_frame of arm64 to rows. Truth is section 6.4 of the DWARF 5 standard and the DWARF supplement of Arm's ABI, by which
 * x29 is 29, x30 is 30, sp is 31, and 0x2d says that the return address is signed; rows were worked out by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "frame_builder.h"

#define NONE(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_NONE, words, 0)
#define BOTH(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_BOTH, words, at)
#define LR(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_LR, words, at)
#define LR_ONLY(words, at) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_PAIR_LR_ONLY, words, at)

static const struct program_case program_cases[] = {
	{ "a function that saves nothing", { 0 }, 1, { { START, NONE(0) } } },
	{ "and has variables",
	  { 0x41, 0x0e, 48 },
	  3,
	  { { START, NONE(0) }, { START + 4, NONE(6) } } },
	{ "stp x29,x30,[sp,#-32]!; mov x29,sp; sub sp,sp,x0",
	  { 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x42, 0x0d, 29 },
	  10,
	  { { START, NONE(0) },
	    { START + 4, BOTH(4, 0) },
	    { START + 12, UNWIND_RULE(UNWIND_CFA_BP, UNWIND_PAIR_BOTH, 4, 0) } } },
	{ "ldp x29,x30,[sp],#32",
	  { 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x43, 0xde, 0xdd, 0x0e, 0 },
	  11,
	  { { START, BOTH(4, 0) }, { START + 12, NONE(0) } } },
	{ "the pair at the upper end",
	  { 0x0e, 64, 0x9d, 2, 0x9e, 1 },
	  6,
	  { { START, BOTH(8, 6) } } },
	{ "the pair at the lower end of a large frame",
	  { 0x0e, 0x90, 0xc0, 0, 0x9d, 0x82, 8, 0x9e, 0x81, 8 },
	  10,
	  { { START, BOTH(1026, 0) } } },
	{ "the pair at its upper end",
	  { 0x0e, 0x90, 0xc0, 0, 0x9d, 2, 0x9e, 1 },
	  8,
	  { { START, BOTH(1026, -2) } } },
	{ "the pair within",
	  { 0x0e, 0xa0, 0x80, 1, 0x9d, 0x82, 8, 0x9e, 0x81, 8 },
	  10,
	  { { START, UNSUPPORTED } } },
	{ "x30 without x29", { 0x0e, 16, 0x9e, 2 }, 4, { { START, LR(2, 0) } } },
	{ "x29 is the same", { 0x0e, 16, 0x9e, 2, 0x08, 29 }, 6, { { START, LR(2, 0) } } },
	{ "x30 apart from x29", { 0x0e, 48, 0x9e, 6, 0x9d, 2 }, 6, { { START, LR_ONLY(6, 0) } } },
	{ "x30 before x29", { 0x0e, 48, 0x9e, 6, 0x9d, 5 }, 6, { { START, LR_ONLY(6, 0) } } },
	{ "x30 at the farthest offset there is",
	  { 0x0e, 16, 0x9d, 2, 0x11, 30, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10 },
	  15,
	  { { START, UNSUPPORTED } } },
	{ "x29 in a register",
	  { 0x0e, 16, 0x9e, 2, 0x09, 29, 3 },
	  7,
	  { { START, LR_ONLY(2, 0) } } },
	{ "x29 without x30", { 0x0e, 16, 0x9d, 2 }, 4, { { START, UNSUPPORTED } } },
	{ "x30 in a register", { 0x09, 30, 15 }, 3, { { START, UNSUPPORTED } } },
	{ "an outermost frame", { 0x07, 30 }, 2, { { START, ROOT } } },
	{ "the CFA in x0", { 0x0c, 0, 0, 0x9d, 2, 0x9e, 1 }, 7, { { START, UNSUPPORTED } } },
	{ "signed return addresses",
	  { 0x41, 0x2d, 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x41, 0x2c, 0x41, 0x2d },
	  13,
	  { { START, NONE(0) }, { START + 8, BOTH(2, 0) } } },
};

static void test_instructions(void **state)
{
	(void)state;
	check_programs(&arm64, program_cases, sizeof(program_cases) / sizeof(program_cases[0]));
}

/* A file whose return addresses are in a register that no known architecture has them in. */
static void test_unknown_architecture(void **state)
{
	static const struct frame_arch unknown = { { 1, 0x78, 14 }, { 0x0c, 7, 8 }, 3 };
	static const uint8_t program[] = { 0x41, 0x0e, 16 };
	struct cfi_table table;

	(void)state;
	build_program(&unknown, "zR", program, sizeof(program), &table);
	assert_rule(&table, START, UNSUPPORTED);
	assert_rule(&table, START + SIZE - 1, UNSUPPORTED);
	assert_rule(&table, START + SIZE, END);
	cfi_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_unknown_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
