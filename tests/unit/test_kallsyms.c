/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of a kernel, and lines that are none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/kallsyms.h"

static struct kallsyms *parse(const char *text)
{
	return kallsyms_parse(text, strlen(text));
}

static void check(const struct kallsyms *symbols, uint64_t address, const char *function,
		  const char *module, uint64_t offset)
{
	struct kallsyms_place place;

	assert_true(kallsyms_find(symbols, address, &place));
	assert_string_equal(place.function, function);
	if (module)
		assert_string_equal(place.module, module);
	else
		assert_null(place.module);
	assert_int_equal(place.offset, offset);
}

/* As the kernel writes them; the order is not that of the addresses where there are modules. */
static void test_lines(void **state)
{
	struct kallsyms *symbols = parse("ffffffff81001000 T kmem_cache_alloc\n"
					 "ffffffffc0000000 t nf_alloc\t[nf_conntrack]\n"
					 "ffffffff81000000 t alloc_file\n"
					 "ffffffff81000000 T alloc_file_alias\n"
					 "ffffffff81002000 D data\n"
					 "ffffffffc0001000 t bpf_prog_1234_name\t[bpf]");
	struct kallsyms_place place;

	(void)state;
	assert_int_equal(kallsyms_count(symbols), 5);
	check(symbols, 0xffffffff81000000, "alloc_file", NULL, 0);
	check(symbols, 0xffffffff81000fff, "alloc_file", NULL, 0xfff);
	check(symbols, 0xffffffff81001001, "kmem_cache_alloc", NULL, 1);
	/* Data are no function: what lies behind belongs to the function before. */
	check(symbols, 0xffffffff81002001, "kmem_cache_alloc", NULL, 0x1001);
	check(symbols, 0xffffffffc0000010, "nf_alloc", "nf_conntrack", 0x10);
	check(symbols, 0xffffffffc0001000, "bpf_prog_1234_name", "bpf", 0);
	assert_false(kallsyms_find(symbols, 0xffffffff80ffffff, &place));
	assert_false(kallsyms_find(symbols, 0, &place));
	/* Too far behind any function. */
	assert_true(kallsyms_find(symbols, 0xffffffff81001000 + KALLSYMS_FUNCTION_MAX - 1, &place));
	assert_false(kallsyms_find(symbols, 0xffffffff81001000 + KALLSYMS_FUNCTION_MAX, &place));
	assert_false(kallsyms_find(symbols, UINT64_MAX, &place));
	kallsyms_free(symbols);
}

static void test_bad_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n",
		"ffff",
		"ffff t",
		"ffff  ",
		"xyz t a",
		"0 t zero",
		"0000000000000000 T z",
		"ffff tt a",
		"ffff d a",
		"11112222333344445 t long",
		"-1 t minus",
		" t a",
		"ffff\0t\0a",
	};
	struct kallsyms *symbols;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		symbols = parse(lines[i]);
		assert_int_equal(kallsyms_count(symbols), 0);
		kallsyms_free(symbols);
	}
	symbols = kallsyms_parse(NULL, 0);
	assert_int_equal(kallsyms_count(symbols), 0);
	kallsyms_free(symbols);
}

/* A module's name that is none is left out; the function stays. */
static void test_modules(void **state)
{
	struct kallsyms *symbols =
		parse("1000 t a\t[]\n2000 t b\t[x\n3000 t c\tx]\n4000 t d [y] z\n");

	(void)state;
	check(symbols, 0x1000, "a", NULL, 0);
	check(symbols, 0x2000, "b", NULL, 0);
	check(symbols, 0x3000, "c", NULL, 0);
	check(symbols, 0x4000, "d", "y", 0);
	kallsyms_free(symbols);
}

static void test_files(void **state)
{
	char path[] = "/tmp/tracer-kallsyms-XXXXXX";
	static const char hidden[] = "0000000000000000 T a\n0000000000000000 t b\n";
	static const char shown[] = "ffffffff81000000 T a\n";
	struct kallsyms *symbols = NULL;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, hidden, sizeof(hidden) - 1), sizeof(hidden) - 1);
	assert_int_equal(kallsyms_read(path, &symbols), -EPERM);
	assert_null(symbols);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, shown, sizeof(shown) - 1, 0), sizeof(shown) - 1);
	assert_int_equal(kallsyms_read(path, &symbols), 0);
	check(symbols, 0xffffffff81000001, "a", NULL, 1);
	kallsyms_free(symbols);
	close(fd);
	unlink(path);
	assert_int_equal(kallsyms_read(path, &symbols), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
