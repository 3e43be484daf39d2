/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator table. The truth: the prototypes of the manual pages (malloc(3), posix_memalign(3), mmap(2)), of the
 * allocators' headers, and for C++ what c++filt of binutils makes of the mangled names (through libiberty).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#include <cmocka.h>
#include <libiberty/demangle.h>

#include "probe/allocator.h"
#include "tracer_abi.h"

static const struct allocator_function *row_of(const char *symbol)
{
	const struct allocator_function *row;

	for (row = allocator_functions(); row->symbol; row++)
		if (strcmp(row->symbol, symbol) == 0)
			return row;
	fail_msg("%s is not in the table", symbol);
	return NULL;
}

static void check(const char *symbol, enum call_op op, unsigned int size, unsigned int count,
		  unsigned int pointer)
{
	uint64_t shape = row_of(symbol)->shape;

	assert_int_equal(SHAPE_OP(shape), op);
	assert_int_equal(SHAPE_SIZE_ARG(shape), size);
	assert_int_equal(SHAPE_COUNT_ARG(shape), count);
	assert_int_equal(SHAPE_PTR_ARG(shape), pointer);
}

static void test_c_shapes(void **state)
{
	(void)state;
	check("malloc", CALL_ALLOC, 1, 0, 0);
	check("calloc", CALL_ALLOC, 2, 1, 0);
	check("realloc", CALL_REALLOC, 2, 0, 1);
	check("reallocarray", CALL_REALLOC, 3, 2, 1);
	check("free", CALL_FREE, 0, 0, 1);
	check("cfree", CALL_FREE, 0, 0, 1);
	check("free_sized", CALL_FREE, 0, 0, 1);
	check("free_aligned_sized", CALL_FREE, 0, 0, 1);
	check("posix_memalign", CALL_ALLOC, 3, 0, 1);
	check("aligned_alloc", CALL_ALLOC, 2, 0, 0);
	check("memalign", CALL_ALLOC, 2, 0, 0);
	check("valloc", CALL_ALLOC, 1, 0, 0);
	check("pvalloc", CALL_ALLOC, 1, 0, 0);
	assert_int_equal(SHAPE_RESULT(row_of("posix_memalign")->shape), RESULT_OUT_STATUS);
	assert_int_equal(SHAPE_RESULT(row_of("malloc")->shape), RESULT_POINTER);
	assert_int_equal(SHAPE_SOURCE(row_of("malloc")->shape), SOURCE_HEAP);
}

static void test_mapping_shapes(void **state)
{
	static const char *const names[] = { "mmap", "mmap64", "munmap", "mremap" };
	size_t i;

	(void)state;
	assert_int_equal(SHAPE_OP(row_of("mmap")->shape), CALL_MMAP);
	assert_int_equal(SHAPE_OP(row_of("mmap64")->shape), CALL_MMAP);
	assert_int_equal(SHAPE_OP(row_of("munmap")->shape), CALL_MUNMAP);
	assert_int_equal(SHAPE_OP(row_of("mremap")->shape), CALL_MREMAP);
	for (i = 0; i < 4; i++)
		assert_int_equal(SHAPE_SOURCE(row_of(names[i])->shape), SOURCE_MMAP);
}

static void test_other_shapes(void **state)
{
	(void)state;
	check("mallocx", CALL_ALLOC, 1, 0, 0);
	check("rallocx", CALL_REALLOC, 2, 0, 1);
	check("_rjem_xallocx", CALL_REALLOC, 2, 0, 1);
	assert_int_equal(SHAPE_RESULT(row_of("xallocx")->shape), RESULT_IN_PLACE);
	check("sdallocx", CALL_FREE, 0, 0, 1);
	check("_rjem_posix_memalign", CALL_ALLOC, 3, 0, 1);
	check("je_calloc", CALL_ALLOC, 2, 1, 0);
	check("tc_memalign", CALL_ALLOC, 2, 0, 0);
	check("mi_heap_calloc", CALL_ALLOC, 3, 2, 0);
	check("mi_malloc_aligned", CALL_ALLOC, 1, 0, 0);
	check("mi_aligned_alloc", CALL_ALLOC, 2, 0, 0);
	check("mi_heap_reallocn", CALL_REALLOC, 4, 3, 2);
	check("scalable_aligned_realloc", CALL_REALLOC, 2, 0, 1);
}

static void test_operators(void **state)
{
	const struct allocator_function *row;
	int news = 0, deletes = 0;

	(void)state;
	for (row = allocator_functions(); row->symbol; row++) {
		bool is_new = strncmp(row->name, "operator new", 12) == 0;
		char *name;

		if (strncmp(row->symbol, "_Z", 2) != 0)
			continue;
		name = cplus_demangle_v3(row->symbol, DMGL_PARAMS);
		assert_non_null(name);
		assert_string_equal(row->name, name);
		free(name);
		if (is_new)
			check(row->symbol, CALL_ALLOC, 1, 0, 0);
		else
			check(row->symbol, CALL_FREE, 0, 0, 1);
		news += is_new;
		deletes += !is_new;
	}
	/* [new.delete]: 8 forms of new and 12 of delete are replaceable. */
	assert_int_equal(news, 8);
	assert_int_equal(deletes, 12);
}

/*
 * [new.delete]: the forms of new without nothrow_t throw; mimalloc's header has mi_new throw. That the others, of C, do
 * not is what lets their return be probed.
 */
static void test_throwing(void **state)
{
	static const char *const throwing[] = {
		"_Znwm",
		"_Znam",
		"_ZnwmSt11align_val_t",
		"_ZnamSt11align_val_t",
		"tc_new",
		"tc_newarray",
		"tc_new_aligned",
		"tc_newarray_aligned",
		"mi_new",
		"mi_new_n",
		"mi_new_aligned",
		"mi_new_realloc",
		"mi_new_reallocn",
		"mi_heap_alloc_new",
		"mi_heap_alloc_new_n",
	};
	const struct allocator_function *row;
	size_t i, count = 0;

	(void)state;
	for (i = 0; i < sizeof(throwing) / sizeof(throwing[0]); i++)
		assert_int_equal(SHAPE_RESULT(row_of(throwing[i])->shape),
				 RESULT_POINTER_OR_THROWS);
	for (row = allocator_functions(); row->symbol; row++)
		count += SHAPE_RESULT(row->shape) == RESULT_POINTER_OR_THROWS;
	assert_int_equal(count, sizeof(throwing) / sizeof(throwing[0]));
}

static void test_rows_are_sound(void **state)
{
	const struct allocator_function *row, *other;

	(void)state;
	for (row = allocator_functions(); row->symbol; row++) {
		assert_true(SHAPE_OP(row->shape) != CALL_NONE);
		assert_int_equal(SHAPE_FUNCTION(row->shape), 0);
		if (SHAPE_OP(row->shape) == CALL_ALLOC || SHAPE_OP(row->shape) == CALL_REALLOC)
			assert_true(SHAPE_SIZE_ARG(row->shape) > 0);
		if (SHAPE_OP(row->shape) == CALL_FREE || SHAPE_OP(row->shape) == CALL_REALLOC)
			assert_true(SHAPE_PTR_ARG(row->shape) > 0);
		for (other = allocator_functions(); other != row; other++)
			assert_string_not_equal(row->symbol, other->symbol);
	}
}

static int defines(void *context, const char *symbol)
{
	const char *const *names = context;

	for (; *names; names++)
		if (strcmp(*names, symbol) == 0)
			return 1;
	return 0;
}

#define IDENTIFY(...) allocator_identify(defines, (const char *[]){ __VA_ARGS__, NULL })

static void test_identify(void **state)
{
	(void)state;
	assert_string_equal(IDENTIFY("malloc", "free", "gnu_get_libc_version"), "glibc");
	assert_string_equal(IDENTIFY("malloc", "free", "__dls3"), "musl");
	assert_string_equal(IDENTIFY("malloc", "mallocx"), "jemalloc");
	assert_string_equal(IDENTIFY("_rjem_malloc"), "jemalloc");
	assert_string_equal(IDENTIFY("malloc", "tc_malloc"), "tcmalloc");
	assert_string_equal(IDENTIFY("malloc", "mi_malloc"), "mimalloc");
	assert_string_equal(IDENTIFY("malloc", "mi_malloc", "heaptrack_malloc"), "heaptrack");
	assert_string_equal(IDENTIFY("malloc", "__TBB_malloc_proxy"), "tbb");
	assert_string_equal(IDENTIFY("malloc", "free"), "unknown");
	/* A static program: its own allocator, and glibc behind it. */
	assert_string_equal(IDENTIFY("gnu_get_libc_version", "_int_malloc", "mallocx"), "jemalloc");
	assert_true(allocator_is_loader(IDENTIFY("malloc", "_dl_rtld_di_serinfo")));
	/* A static program of glibc has this one, too. */
	assert_string_equal(IDENTIFY("malloc", "_dl_rtld_di_serinfo", "_int_malloc"), "glibc");
	assert_false(allocator_is_loader(IDENTIFY("malloc", "gnu_get_libc_version")));
}

static void test_scope(void **state)
{
	const struct allocator_function *extra = row_of("reallocf"), *plain = row_of("malloc");

	(void)state;
	assert_true(allocator_applies(extra, "mimalloc", true));
	assert_true(allocator_applies(extra, "unknown", true));
	assert_false(allocator_applies(extra, "unknown", false));
	assert_false(allocator_applies(extra, "glibc", true)); /* a static program */
	assert_false(allocator_applies(extra, "musl", true));
	assert_true(allocator_applies(plain, "glibc", false));
	assert_true(allocator_applies(row_of("_Znwm"), "unknown", false));
	assert_true(allocator_operators_forward("unknown", false)); /* libstdc++ */
	assert_true(allocator_operators_forward("glibc", true)); /* a static program */
	assert_false(allocator_operators_forward("jemalloc", true));
	assert_true(allocator_has_function("malloc") && allocator_has_function("_ZdlPv"));
	assert_false(allocator_has_function("mmap") || allocator_has_function("printf") ||
		     allocator_has_function("__cxa_allocate_exception"));
}

static void test_arguments(void **state)
{
	(void)state;
	assert_int_equal(allocator_arguments(row_of("malloc")->shape), 1 << 1);
	assert_int_equal(allocator_arguments(row_of("calloc")->shape), 1 << 1 | 1 << 2);
	assert_int_equal(allocator_arguments(row_of("reallocarray")->shape),
			 1 << 1 | 1 << 2 | 1 << 3);
	assert_int_equal(allocator_arguments(row_of("posix_memalign")->shape), 1 << 1 | 1 << 3);
	assert_int_equal(allocator_arguments(row_of("free")->shape), 1 << 1);
	assert_int_equal(allocator_arguments(row_of("munmap")->shape), 1 << 1 | 1 << 2);
	assert_int_equal(allocator_arguments(SHAPE(CALL_ALLOC, 4 | ARG_IS_INT, 3, 0, RESULT_POINTER,
						   SOURCE_HEAP)),
			 1 << 3 | 1 << 4);
	assert_int_equal(allocator_arguments(SHAPE(CALL_ALLOC, SIZE_ARG_FIXED, 5 | ARG_IS_INT, 0,
						   RESULT_POINTER, SOURCE_HEAP)),
			 1 << 5);
	assert_int_equal(allocator_arguments(row_of("mmap")->shape), 0x7e);
	assert_int_equal(allocator_arguments(row_of("mremap")->shape), 0x3e);
}

static void test_markers(void **state)
{
	size_t count = 0;

	(void)state;
	while (allocator_marker(count))
		count++;
	assert_true(count > 5);
	assert_null(allocator_marker(count + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c_shapes),     cmocka_unit_test(test_mapping_shapes),
		cmocka_unit_test(test_other_shapes), cmocka_unit_test(test_operators),
		cmocka_unit_test(test_throwing),     cmocka_unit_test(test_rows_are_sound),
		cmocka_unit_test(test_identify),     cmocka_unit_test(test_scope),
		cmocka_unit_test(test_arguments),    cmocka_unit_test(test_markers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
