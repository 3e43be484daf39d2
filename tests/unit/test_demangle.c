/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of compilers. The truth is the mangling schemes: the Itanium C++ ABI, Rust's legacy scheme and RFC 2603, and D's;
 * and that no name, however long or odd, is without an answer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "decode/demangle.h"

static void assert_demangled(const char *symbol, const char *expected)
{
	char *name = demangle_symbol(symbol);

	assert_string_equal(name, expected);
	free(name);
}

static void test_schemes(void **state)
{
	(void)state;
	assert_demangled("_Z4leakm", "leak(unsigned long)");
	assert_demangled("_Znwm", "operator new(unsigned long)");
	assert_demangled("_ZN4shop5ShelfIiLi2EED2Ev", "shop::Shelf<int, 2>::~Shelf()");
	assert_demangled("_Z3maxIiET_S0_S0_", "max<int>(int, int)");
	assert_demangled("_ZN12_GLOBAL__N_15localEi", "(anonymous namespace)::local(int)");
	assert_demangled("_ZL6helperi.constprop.0", "helper(int) [clone .constprop.0]");
	assert_demangled("_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE",
			 "alloc::vec::Vec<T>::push");
	assert_demangled("_RNvC6_123foo3bar", "123foo::bar");
	assert_demangled("_RINvNtC3std3mem8align_ofjEC3foo", "std::mem::align_of::<usize>");
	assert_demangled("_Dmain", "D main");
	assert_demangled("_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])");
}

static void assert_type(const char *mangled, const char *expected)
{
	char *name = demangle_type(mangled);

	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

/* What typeinfos have. Names that describe exponentially longer ones are cut. */
static void test_types(void **state)
{
	char name[2 * DEMANGLE_LENGTH_MAX] = "4PairI3BoxIiE", *long_name;
	size_t length = strlen(name);
	int i;

	(void)state;
	assert_type("N3app8NumberedILi3EEE", "app::Numbered<3>");
	assert_type("3BoxISsE", "Box<std::string>");
	assert_type("*3BoxIiE", NULL);
	assert_type("3Box", "Box");
	assert_type("99Box", NULL);
	assert_type("", NULL);
	for (i = 0; i < 20; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length, "4PairIS%d_S%d_E",
					   i, i);
	strcat(name, "E");
	long_name = demangle_type(name);
	assert_true(!long_name || strlen(long_name) <= DEMANGLE_LENGTH_MAX);
	free(long_name);
}

static void test_plain(void **state)
{
	(void)state;
	assert_demangled("malloc", "malloc");
	assert_demangled("memcpy@@GLIBC_2.14", "memcpy");
	assert_demangled("_Z4leakm@VERSION", "leak(unsigned long)");
	assert_demangled("_Z", "_Z");
	assert_demangled("_R", "_R");
	assert_demangled("_D", "_D");
	assert_demangled("_Dangling", "_Dangling");
	assert_demangled("_ZN3foo", "_ZN3foo");
	assert_demangled("@only", "@only");
	assert_demangled("", "");
	assert_true(demangle_is_mangled("_Zsomething"));
	assert_false(demangle_is_mangled("zlib"));
	assert_false(demangle_is_mangled("_Dangling"));
}

static void assert_cut(const char *symbol, const char *begin)
{
	char *name = demangle_symbol(symbol);

	assert_int_equal(strlen(name), DEMANGLE_LENGTH_MAX);
	assert_memory_equal(name, begin, strlen(begin));
	assert_string_equal(name + DEMANGLE_LENGTH_MAX - 3, "...");
	free(name);
}

/* Names that are long, that unfold to something long, and that double with each step. */
static void test_long(void **state)
{
	static const char digits[] = "0123456789ABCDEF";
	struct buffer symbol = { 0 };
	int i;

	(void)state;
	buffer_append_string(&symbol, "_Z1fv");
	for (i = 0; i < 3000; i++)
		buffer_append_string(&symbol, "St4pairIiiE");
	assert_cut(symbol.data, "_Z1fvSt4pairIiiESt4pair");
	buffer_clear(&symbol);
	/* libiberty gives up on names of more than 1024 bytes: they stay mangled. */
	buffer_append_string(&symbol, "_Z1f");
	for (i = 0; i < 120; i++)
		buffer_append_string(&symbol, "St4pairImmE");
	assert_demangled(symbol.data, symbol.data);
	buffer_clear(&symbol);
	buffer_append_string(&symbol, "_Z1fSt4pairIiiE");
	for (i = 0; i < 16; i++)
		buffer_printf(&symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	assert_cut(symbol.data, "f(std::pair<int, int>, std::pair<std::pair<int, int>, ");
	buffer_free(&symbol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schemes),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
