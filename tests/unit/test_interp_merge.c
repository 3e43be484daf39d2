/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Native and interpreter frames as one stack. Stacks are written as texts, a letter for each frame, the innermost first.
 * Native: x other code, r the interpreter's, L its loop, j generated code, s what starts threads, e an error.
 * Interpreter: digits; a point follows an entry. Merged: the same letters, internal ones in brackets.
 * What is expected was written down by hand from how the interpreters call each other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "frames/interp_merge.h"

#define MAX 64

static size_t parse_native(const char *text, struct merge_native *native)
{
	size_t count = 0;

	for (; *text; text++) {
		struct merge_native *to = &native[count++];

		*to = (struct merge_native){ .frame = { .address = (uint64_t)*text } };
		if (*text == 'r')
			to->place = MERGE_RUNTIME;
		else if (*text == 'L')
			to->place = MERGE_LOOP;
		else if (*text == 's')
			to->place = MERGE_START;
		else if (*text == 'j')
			to->frame.kind = FRAME_JIT;
		else if (*text == 'e')
			to->frame.kind = FRAME_ERROR;
	}
	return count;
}

static size_t parse_interp(const char *text, struct merge_interp *interp)
{
	size_t count = 0;

	for (; *text; text++)
		if (*text == '.')
			interp[count - 1].entry = true;
		else
			interp[count++] = (struct merge_interp){
				.frame = { .kind = FRAME_RUBY, .address = (uint64_t)*text }
			};
	return count;
}

static void check(const char *native_text, const char *interp_text, const char *expected)
{
	struct merge_native native[MAX];
	struct merge_interp interp[MAX];
	size_t native_count = parse_native(native_text, native), i, length = 0;
	size_t interp_count = parse_interp(interp_text, interp);
	struct frame frames[2 * MAX];
	char text[8 * MAX];
	size_t count = interp_merge(native, native_count, interp, interp_count, frames);

	assert_int_equal(count, native_count + interp_count);
	for (i = 0; i < count; i++) {
		if (frames[i].internal)
			text[length++] = '(';
		text[length++] = (char)frames[i].address;
		if (frames[i].internal)
			text[length++] = ')';
	}
	text[length] = '\0';
	assert_string_equal(text, expected);
}

static void test_plain(void **state)
{
	(void)state;
	check("", "", "");
	check("xxs", "", "xxs");
	check("rrs", "", "rrs");
	check("", "12.", "12");
	/* An allocation by the interpreter itself, on behalf of the code of frame 1. */
	check("rrLrrss", "12.", "(r)(r)12(L)(r)(r)(s)(s)");
	/* The program's entry point is the interpreter's, too; it is not when something else is called. */
	check("rLrssr", "12.", "(r)12(L)(r)(s)(s)(r)");
	check("xLrsrsr", "12.", "x12(L)(r)s(r)(s)(r)");
	check("rLrxssr", "12.", "(r)12(L)(r)xss(r)");
	/* By an extension. */
	check("xxrLrs", "12.", "xx(r)12(L)(r)(s)");
}

static void test_nested(void **state)
{
	(void)state;
	/* Code 3 calls an extension, which calls code 1. */
	check("xrLrxxrLrs", "12.34.", "x(r)12(L)(r)xx(r)34(L)(r)(s)");
	check("LLL", "1.2.3.", "1(L)2(L)3(L)");
	/* An entry that is missing because the frames were cut. */
	check("xrLrxxrLre", "12.34", "x(r)12(L)(r)xx(r)34(L)(r)e");
	check("xrLrxxrLrs", "12.34", "x(r)12(L)(r)xx(r)34(L)(r)(s)");
	/* A loop that is missing because the native frames were cut. */
	check("xrLrxxe", "12.34.5.", "x(r)12(L)(r)xx345e");
}

static void test_unknown_loop(void **state)
{
	(void)state;
	check("xxrrs", "12.3.", "xx123(r)(r)(s)");
	check("xrxrs", "12.3.", "x123(r)x(r)(s)");
	/* One of two calls of the loop cannot be recognized: it may be in a part that is set apart. */
	check("xrLrxrrs", "12.3.", "x123(r)(L)(r)x(r)(r)(s)");
	/* Generated code ends the native walk. */
	check("xrje", "12.3.", "x123(r)(j)e");
	check("je", "12.3.", "123(j)e");
	check("xe", "12.3.", "x123e");
	check("xx", "12.3.", "xx123");
}

/* A program that uses the interpreter as a library keeps its own frames. */
static void test_embedded(void **state)
{
	(void)state;
	check("xrLrxxs", "12.", "x(r)12(L)(r)xxs");
	check("rLrsxs", "1.", "(r)1(L)(r)sxs");
	check("rLrse", "1.", "(r)1(L)(r)(s)e");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_unknown_loop),
		cmocka_unit_test(test_embedded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
