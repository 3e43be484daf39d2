/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe plan as a container: what is added twice, and ids of functions. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <linux/types.h>
#include <cmocka.h>

#include "plan_world.h"

/* A file that comes twice is probed once. */
static void test_no_site_twice(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "malloc", 0x1000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 1);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 0);
	assert_int_equal(work->plan.count, 1);
	work_free(work);
}

static void test_nothing(void **state)
{
	struct work *work = work_default();

	(void)state;
	PUT(work, "main", 0x1000, CHEAP);
	assert_int_equal(plan_add_file(&work->plan, 0, &work->file), 0);
	assert_int_equal(work->plan.skipped_count, 0);
	work_free(work);
	plan_free(NULL);
}

/* The same allocator in two files has the same functions; another one has its own. */
static void test_function_ids(void **state)
{
	struct work *work = work_default();
	struct module *module = memory_alloc(1, sizeof(*module));

	(void)state;
	module->path = memory_copy_string("/lib/other.so");
	module->fd = -1;
	module_list_add(&work->modules, module);
	PUT(work, "malloc", 0x1000, CHEAP);
	plan_add_file(&work->plan, 0, &work->file);
	plan_add_file(&work->plan, 1, &work->file);
	PUT(work, "mi_malloc", 0x2000, CHEAP);
	work->file.functions[0].file_offset = 0x3000;
	memcpy(work->bytes + 0x3000, CHEAP, 3);
	plan_add_file(&work->plan, 1, &work->file);
	assert_int_equal(work->plan.count, 4);
	assert_int_equal(work->plan.probes[0].function, work->plan.probes[1].function);
	assert_int_not_equal(work->plan.probes[0].function, work->plan.probes[3].function);
	work_free(work);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_site_twice),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_function_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
