/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Execs that are inferred from sites, and what is kept of programs that have ended. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "follow/ended.h"

/* The test's own process: its name can be read. */
static struct process process_of_test(void)
{
	return (struct process){ .target = { .pid = getpid(), .pidfd = -1, .exec_ns = 100 } };
}

static void process_end(struct process *process)
{
	free(process->target.exe);
	free(process->target.directory);
	free(process->target.root);
}

static void see(struct ended *ended, struct process *process, uint32_t exec_id, uint64_t first_ns)
{
	const struct site record = { .exec_id = exec_id, .first_ns = first_ns };

	ended_compare_site(ended, process, &record);
}

/* Without records of execs, the second program began no later than its first site. */
static void test_infer(void **state)
{
	struct process process = process_of_test();
	struct ended ended = { 0 };

	(void)state;
	see(&ended, &process, 7, 200);
	see(&ended, &process, 7, 300);
	assert_false(ended.needs_reap);
	see(&ended, &process, 8, 400);
	assert_true(ended.needs_reap);
	assert_int_equal(process.target.exec_ns, 400);
	process_end(&process);
}

/* The newer program's site is read first, as from a map in no order. */
static void test_infer_in_any_order(void **state)
{
	struct process process = process_of_test();
	struct ended ended = { 0 };

	(void)state;
	see(&ended, &process, 8, 400);
	assert_false(ended.needs_reap);
	see(&ended, &process, 7, 200);
	assert_true(ended.needs_reap);
	assert_int_equal(process.target.exec_ns, 400);
	process_end(&process);
}

/* The number of execs is the low half of a counter: it wraps. */
static void test_infer_wrapped(void **state)
{
	struct process process = process_of_test();
	struct ended ended = { 0 };

	(void)state;
	see(&ended, &process, UINT32_MAX, 200);
	see(&ended, &process, 0, 400);
	assert_true(ended.needs_reap);
	assert_int_equal(process.exec_id, 0);
	assert_int_equal(process.target.exec_ns, 400);
	process_end(&process);
}

/* The record of the exec will come, unless records were dropped. */
static void test_wait_for_record(void **state)
{
	struct process process = process_of_test();
	struct ended ended = { .has_records = true };

	(void)state;
	see(&ended, &process, 7, 200);
	see(&ended, &process, 8, 400);
	assert_false(ended.needs_reap);
	assert_true(process.exec_missed);
	assert_int_equal(process.target.exec_ns, 100);
	ended.lost_records = true;
	ended_lose_records(&ended, &process);
	assert_true(ended.needs_reap);
	assert_int_equal(process.target.exec_ns, 400);
	process_end(&process);
}

/* An exec whose record has come: the first site of its program is later than the exec. */
static void test_recorded(void **state)
{
	struct process process = process_of_test();
	struct ended ended = { .has_records = true };

	(void)state;
	see(&ended, &process, 7, 200);
	process.target.exec_ns = 390;
	see(&ended, &process, 8, 400);
	assert_false(ended.needs_reap);
	assert_false(process.exec_missed);
	process_end(&process);
}

static void test_is_current(void **state)
{
	struct process process = process_of_test();
	struct known_site site = { .process = &process, .record = { .first_ns = 100 } };

	(void)state;
	assert_true(ended_is_current(&site));
	site.record.first_ns = 99;
	assert_false(ended_is_current(&site));
	site.record.first_ns = 100;
	process.to_reap = true;
	assert_false(ended_is_current(&site));
}

static struct known_site site_of(struct process *process, uint64_t first_ns, uint16_t function)
{
	return (struct known_site){ .process = process,
				    .stack = memory_alloc(1, sizeof(struct stack)),
				    .record = { .first_ns = first_ns, .function = function } };
}

static void keep(struct ended *ended, struct known_site *site, uint64_t allocated, uint64_t freed)
{
	const struct snapshot_site row = {
		.stack = site->stack,
		.stats = { .alloc_bytes = 10 * allocated,
			   .alloc_objects = allocated,
			   .free_bytes = 10 * freed,
			   .free_objects = freed },
	};

	ended_keep_site(ended, site, &row);
	stack_free(site->stack);
}

static void test_keep(void **state)
{
	struct function_name functions[3] = { { .function = "" },
					      { .function = "malloc" },
					      { .function = "calloc" } };
	const struct plan plan = { .functions = functions, .function_count = 3 };
	struct process process = process_of_test();
	struct ended ended = { .keeps = true };
	struct known_site first = site_of(&process, 150, 1), second = site_of(&process, 250, 2);
	struct known_site empty[2] = { site_of(&process, 150, 1), site_of(&process, 160, 1) };

	(void)state;
	ended_add_program(&ended, &process, 200);
	ended_add_program(&ended, &process, UINT64_MAX);
	keep(&ended, &first, 5, 2);
	keep(&ended, &second, 7, 0);
	keep(&ended, &empty[0], 3, 3);
	keep(&ended, &empty[1], 4, 4);
	/* The two that hold nothing are one row. */
	assert_int_equal(ended.site_count, 3);
	assert_string_equal(ended_row(&ended, &plan, 0).function->function, "malloc");
	assert_ptr_equal(ended_row(&ended, &plan, 0).target, ended.programs[0].target);
	assert_int_equal(ended_row(&ended, &plan, 0).stats.free_objects, 2);
	assert_string_equal(ended_row(&ended, &plan, 1).function->function, "calloc");
	assert_ptr_equal(ended_row(&ended, &plan, 1).target, ended.programs[1].target);
	assert_int_equal(ended_row(&ended, &plan, 2).stats.alloc_objects, 7);
	assert_int_equal(ended_row(&ended, &plan, 2).stats.free_bytes, 70);
	assert_true(ended_row(&ended, &plan, 2).ended);
	assert_true(ended_lists(&ended.programs[0]));
	/* Another process may get its place in memory. */
	ended_forget_process(&ended, &process);
	first = site_of(&process, 150, 1);
	keep(&ended, &first, 5, 2);
	assert_int_equal(ended.site_count, 3);
	ended_free(&ended);
	process_end(&process);
}

static void test_keeps_nothing(void **state)
{
	struct process process = process_of_test();
	struct known_site site = site_of(&process, 150, 1);
	struct ended ended = { 0 };

	(void)state;
	ended_add_program(&ended, &process, 200);
	keep(&ended, &site, 5, 2);
	assert_int_equal(ended.program_count, 0);
	assert_int_equal(ended.site_count, 0);
	ended_free(&ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_infer),	      cmocka_unit_test(test_infer_in_any_order),
		cmocka_unit_test(test_infer_wrapped), cmocka_unit_test(test_wait_for_record),
		cmocka_unit_test(test_recorded),      cmocka_unit_test(test_is_current),
		cmocka_unit_test(test_keep),	      cmocka_unit_test(test_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
