/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan in words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "plan_world.h"

#if defined(__x86_64__)

static void add_module(struct work *work, const char *path)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = -1;
	module_list_add(&work->modules, module);
}

/* Allocators, how much of them, and that a second malloc may be there for nothing. */
static void test_summarize(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();
	size_t before;

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	PUT(work, "gnu_get_libc_version", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data, "libtest\\x1b.so: 2 functions (glibc)");
	before = work->plan.count;
	add_module(work, "/opt/libmimalloc.so.2");
	add_module(work, "pool");
	work->file.functions[2].name = "mi_malloc";
	PUT(work, "__cxa_allocate_exception", 0x4000, CHEAP);
	plan_add_file(&work->plan, 1, &work->file);
	work->file.function_count = 1;
	plan_add_file(&work->plan, 2, &work->file);
	text.length = 0;
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data,
			    "libtest\\x1b.so: 2 functions (glibc), malloc present but perhaps "
			    "unused; libmimalloc.so.2: 3 functions (mimalloc); "
			    "pool: 1 function");
	text.length = 0;
	plan_summarize(&work->plan, before, &text);
	assert_string_equal(text.data,
			    "libmimalloc.so.2: 3 functions (mimalloc); pool: 1 function");
	buffer_free(&text);
	work_free(work);
}

/* A process may have one C library and another process another one: each is in use. */
static void test_summarize_two_libcs(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "gnu_get_libc_version", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	add_module(work, "/lib/ld-musl-x86_64.so.1");
	work->file.functions[1].name = "__libc_malloc_impl";
	plan_add_file(&work->plan, 1, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_string_equal(text.data, "libtest\\x1b.so: 1 function (glibc); "
				       "ld-musl-x86_64.so.1: 1 function (musl)");
	buffer_free(&text);
	work_free(work);
}

/* Of a program that has its C++ library inside, exceptions may begin in front of its malloc. */
static void test_summarize_exceptions_first(void **state)
{
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "__cxa_allocate_exception", 0x1000, CHEAP);
	PUT(work, "malloc", 0x2000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_summarize(&work->plan, 0, &text);
	assert_true(text.length);
	assert_string_equal(text.data, "libtest\\x1b.so: 1 function");
	buffer_free(&text);
	work_free(work);
}

static void test_describe(void **state)
{
	static const char expected[] =
		"/lib/libtest\\x1b.so\n"
		"  FUNCTION  SITE      INSTRUCTION  COST            WHY\n"
		"  malloc    0x1000    pushq %rbx   emulated        the entry is cheap\n"
		"  free      0x2000+2  pushq %rbx   emulated        as good as the entry, without "
		"a "
		"single step\n"
		"            also cfree\n"
		"  pvalloc   0x4000    retq         single-stepped  no cheaper instruction on the "
		"straight way from it\n"
		"\n"
		"Skipped\n"
		"  /lib/libtest\\x1b.so: free_sized only jumps to free, which is probed\n";
	struct buffer text = { 0 };
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, DEAR);
	PUT(work, "cfree", 0x2000, DEAR);
	put_jump(work, "free_sized", 0x3000, 0x2000);
	PUT(work, "pvalloc", 0x4000, "\xc3");
	plan_add_file(&work->plan, 0, &work->file);
	plan_describe(&work->plan, &text);
	assert_string_equal(text.data, expected);
	buffer_free(&text);
	work_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summarize),
		cmocka_unit_test(test_summarize_two_libcs),
		cmocka_unit_test(test_summarize_exceptions_first),
		cmocka_unit_test(test_describe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* The code in these files is that of x86-64. */
static void test_summarize(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_summarize) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
