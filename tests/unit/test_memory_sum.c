/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runtimes, kinds of blocks and remarks of several processes in one report. Truth: sums by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/memory.h"
#include "memory/memory_sum.h"

static void put_class(struct memory_report *report, const char *name, uint64_t live, uint64_t bytes)
{
	struct memory_class *class = memory_runtime_add_class(&report->runtimes[0]);

	class->name = strings_keep(&report->names, name);
	class->live = live;
	class->slot_bytes = bytes;
}

static void put_runtime(struct memory_report *report, const char *version, uint64_t gc_ns)
{
	struct memory_runtime *runtime = memory_report_add_runtime(report);

	runtime->name = "ruby";
	snprintf(runtime->version, sizeof(runtime->version), "%s", version);
	runtime->pages = 10;
	runtime->gc_ns = gc_ns;
}

static void add(struct memory_report *sum, struct memory_report *report)
{
	struct memory_remarks remarks = { 0 };

	memory_sum_runtimes(sum, report, &remarks);
	assert_int_equal(remarks.count, 0);
	memory_report_free(report);
}

static void test_rows_of_one_name_are_added(void **state)
{
	struct memory_report sum = { 0 }, one = { 0 }, two = { 0 }, three = { 0 };
	const struct memory_runtime *row;

	(void)state;
	put_runtime(&one, "3.1.2", 100);
	put_class(&one, "Session", 5, 200);
	put_class(&one, "App", 1, 40);
	put_runtime(&two, "3.1.2", HEAP_UNKNOWN);
	put_class(&two, "App", 100, 4000);
	two.runtimes[0].classes[0].holders = memory_alloc(1, sizeof(char *));
	two.runtimes[0].classes[0].holders[0] = memory_copy_string("constant APPS");
	two.runtimes[0].classes[0].holder_count = 1;
	put_runtime(&three, "3.3.8", 7);
	add(&sum, &one);
	add(&sum, &two);
	add(&sum, &three);
	assert_int_equal(sum.runtime_count, 2);
	row = &sum.runtimes[0];
	assert_int_equal(row->pages, 20);
	assert_true(row->gc_ns == HEAP_UNKNOWN);
	assert_int_equal(row->class_count, 2);
	assert_string_equal(row->classes[0].name, "App");
	assert_int_equal(row->classes[0].live, 101);
	assert_int_equal(row->classes[0].slot_bytes, 4040);
	assert_string_equal(row->classes[0].holders[0], "constant APPS");
	assert_int_equal(row->classes[1].live, 5);
	assert_int_equal(sum.runtimes[1].gc_ns, 7);
	memory_report_free(&sum);
}

static void put_kind(struct memory_report *report, const char *name, uint64_t size, uint64_t blocks)
{
	*memory_report_add_kind(report) =
		(struct memory_kind){ .kind = "class",
				      .name = strings_keep(&report->names, name),
				      .holder = "",
				      .size = size,
				      .blocks = blocks,
				      .bytes = size * blocks };
}

static void test_kinds_of_one_name_and_size_are_added(void **state)
{
	struct memory_report sum = { 0 }, one = { 0 }, two = { 0 };

	(void)state;
	put_kind(&one, "app::Req", 64, 10);
	put_kind(&one, "app::Req", 32, 1);
	put_kind(&one, "", 64, 3);
	put_kind(&two, "app::Other", 64, 100);
	put_kind(&two, "app::Req", 64, 20);
	put_kind(&two, "", 64, 4);
	memory_sum_kinds(&sum, &one);
	memory_sum_kinds(&sum, &two);
	memory_report_free(&one);
	memory_report_free(&two);
	assert_int_equal(sum.kind_count, 4);
	assert_string_equal(sum.kinds[0].name, "app::Other");
	assert_string_equal(sum.kinds[1].name, "app::Req");
	assert_int_equal(sum.kinds[1].blocks, 30);
	assert_int_equal(sum.kinds[1].bytes, 1920);
	assert_int_equal(sum.kinds[2].blocks, 7);
	assert_int_equal(sum.kinds[3].bytes, 32);
	memory_report_free(&sum);
}

/* A process with a remark about itself, twice, about its heap and about its Ruby. */
static void put_remarks(struct memory_report *report, pid_t pid, const char *own, const char *heap,
			const char *runtime)
{
	*report = (struct memory_report){ .process = { .pid = pid, .comm = "puma" } };
	memory_report_remark(report, "%s", own);
	memory_report_remark(report, "%s", own);
	memory_report_add_heap(report)->allocator = "glibc";
	buffer_printf(&report->heaps[0].remarks, "%s\n", heap);
	put_runtime(report, "3.1.2", 0);
	buffer_printf(&report->runtimes[0].remarks, "%s\n", runtime);
}

/* Each is there once, with how many processes have it; that of one names it. */
static void test_equal_remarks_are_one(void **state)
{
	static const char *const own[] = { "jemalloc: it is too new.", "No time.",
					   "jemalloc: it is too new." };
	static const char *const heap[] = { "Arena 3 changed.", "Arena 3 changed.", "No time." };
	static const char *const runtime[] = { "no time", "no time", "no time" };
	struct memory_report sum = { 0 }, one;
	struct memory_remarks remarks = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		put_remarks(&one, 100 + i, own[i], heap[i], runtime[i]);
		memory_sum_add(&sum, &one, &remarks);
		memory_report_free(&one);
	}
	memory_remarks_finish(&remarks, &sum);
	assert_string_equal(sum.remarks.data, "2 of 3 processes: jemalloc: it is too new.\n"
					      "puma (101): No time.\n");
	assert_string_equal(sum.heaps[0].remarks.data, "2 of 3 processes: Arena 3 changed.\n"
						       "puma (102): No time.\n");
	assert_string_equal(sum.runtimes[0].remarks.data, "3 of 3 processes: no time\n");
	assert_null(remarks.rows);
	memory_report_free(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_of_one_name_are_added),
		cmocka_unit_test(test_kinds_of_one_name_and_size_are_added),
		cmocka_unit_test(test_equal_remarks_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
