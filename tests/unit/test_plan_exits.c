/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose return is not probed: their exits are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "plan_world.h"

#if defined(__x86_64__)

/* mov $11,%eax; syscall; cmp $-4095,%rax; jae +1; ret; ret */
#define MUNMAP "\xb8\x0b\0\0\0\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x01\xc3\xc3"

/*
 * Operators that do not lead to malloc are the only way to their blocks. One that may throw is probed where it begins and
 * where it returns: no exception gets past a return probe.
 */
static void test_operators(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *exit;

	(void)state;
	PUT(work, "_Znwm", 0x1000, CHEAP);
	PUT(work, "_ZdlPv", 0x2000, CHEAP);
	PUT(work, "_ZnwmRKSt9nothrow_t", 0x3000, CHEAP);
	PUT(work, "__cxa_allocate_exception", 0x4000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 5);
	assert_int_equal(work->plan.skipped_count, 0);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 3);
	exit = probe_of(work, "(return)");
	assert_int_equal(exit->site_offset, 0x1002);
	assert_int_equal(SHAPE_OP(exit->shape), CALL_LEAVE);
	assert_int_equal(SHAPE_OP(probe_of(work, "__cxa_allocate_exception")->shape), CALL_THROW);
	work_free(work);
}

/* The results of mapping functions are read behind their system calls. */
static void test_mapping_functions(void **state)
{
	struct work *work = work_default();
	const struct plan_probe *exit;

	(void)state;
	PUT(work, "munmap", 0x1000, MUNMAP);
	PUT(work, "mremap", 0x2000, NO_EXITS);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	exit = probe_of(work, "(result)");
	assert_int_equal(exit->site_offset, 0x100d);
	assert_int_equal(SHAPE_OP(exit->shape), CALL_LEAVE);
	assert_int_equal(exit->cost, COST_EMULATED);
	assert_true(probe_of(work, "munmap")->shape & SHAPE_BY_EXITS);
	/* Where that is not known, a return probe is better than nothing, and is said to be there. */
	assert_false(probe_of(work, "mremap")->shape & SHAPE_BY_EXITS);
	assert_true(is_skipped(work, "mremap is probed by its return: a jump's target is unknown"));
	assert_false(work->plan.skipped[0].lost);
	work_free(work);
}

static void test_no_return_probes(void **state)
{
	struct plan_options options = kernel_options();
	struct work *work;

	(void)state;
	options.no_return_probes = true;
	work = work_new(&options);
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "calloc", 0x2000, NO_EXITS);
	PUT(work, "free", 0x3000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 3);
	assert_true(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	assert_int_equal(probe_of(work, "(return)")->site_offset, 0x1002);
	assert_false(probe_of(work, "free")->shape & SHAPE_BY_EXITS);
	assert_null(probe_of(work, "calloc"));
	assert_true(is_skipped(work, "calloc is to have no return probe"));
	assert_true(work->plan.skipped[0].lost);
	work_free(work);
}

/* A sanitizer's allocator walks the stack, and finds a return probe's address there. */
static void test_walkers(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	PUT(work, "__asan_init", 0x3000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	assert_true(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	work_free(work);
	work = work_default();
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "free", 0x2000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	assert_false(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS);
	work_free(work);
}

/* Stacks that are switched matter where a return that is asked for cannot be declined. */
static void test_switching(void **state)
{
	struct plan_options options = kernel_options();
	struct work *work;
	int avoid;

	(void)state;
	for (avoid = 0; avoid < 2; avoid++) {
		options.avoid_switching = avoid;
		work = work_new(&options);
		work->plan.switching = "/lib/libfibers.so";
		PUT(work, "malloc", 0x1000, CHEAP);
		PUT(work, "calloc", 0x2000, NO_EXITS);
		PUT(work, "free", 0x3000, CHEAP);
		plan_add_file(&work->plan, 0, &work->file);
		assert_int_equal(!(probe_of(work, "malloc")->shape & SHAPE_BY_EXITS), !avoid);
		assert_int_equal(!probe_of(work, "calloc"), avoid);
		assert_int_equal(is_skipped(work, "calloc may be called on several stacks"), avoid);
		work_free(work);
	}
}

/* jmp *%rax: nobody knows where it returns. */
static void test_operator_without_exits(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "_Znwm", 0x1000, "\x53\x5b\xff\xe0");
	PUT(work, "_ZdlPv", 0x2000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	assert_true(is_skipped(work, "_Znwm may throw"));
	assert_true(work->plan.skipped[0].lost);
	work_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_mapping_functions),
		cmocka_unit_test(test_no_return_probes),
		cmocka_unit_test(test_walkers),
		cmocka_unit_test(test_switching),
		cmocka_unit_test(test_operator_without_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* The code in these files is that of x86-64. */
static void test_operators(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_operators) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
