/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is probed by returns turns to exits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "plan_world.h"

#if defined(__x86_64__)

/* A file that is probed by returns turns to exits: its functions keep their numbers, and what has no return its place. */
static void test_turn(void **state)
{
	struct work *work = work_default(), *exits = work_default();
	struct plan_probe malloc_before, free_before;
	size_t count, kept;

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	PUT(work, "calloc", 0x2000, NO_EXITS);
	PUT(work, "free", 0x3000, CHEAP);
	exits->file.bytes = work->bytes;
	exits->plan.walker = "a walker";
	count = plan_add_file(&work->plan, 0, &work->file);
	memcpy(exits->file.functions, work->file.functions, sizeof(work->file.functions));
	exits->file.function_count = work->file.function_count;
	plan_add_file(&exits->plan, 0, &exits->file);
	malloc_before = *probe_of(work, "malloc");
	free_before = *probe_of(work, "free");
	kept = plan_turn(&work->plan, 0, count, &exits->plan);
	assert_int_equal(kept, count + 1);
	assert_memory_equal(&work->plan.probes[count].shape, &free_before.shape,
			    sizeof(free_before.shape));
	assert_int_equal(work->plan.count, kept + 2);
	assert_string_equal(work->plan.probes[kept].symbol, "malloc");
	assert_int_equal(work->plan.probes[kept].shape, malloc_before.shape | SHAPE_BY_EXITS);
	assert_int_equal(work->plan.probes[kept].function, malloc_before.function);
	assert_int_equal(SHAPE_OP(work->plan.probes[kept + 1].shape), CALL_LEAVE);
	assert_int_equal(work->plan.probes[kept + 1].site_offset, 0x1002);
	assert_int_equal(plan_count_calls(&work->plan, 0, work->plan.count), 2);
	work_free(work);
	work_free(exits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

/* The code in these files is that of x86-64. */
static void test_turn(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_turn) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
