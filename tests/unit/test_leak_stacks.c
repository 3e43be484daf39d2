/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of lost blocks, and lost blocks as sites. Truth: reports done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/leak_rows.h"
#include "analyze/leak_stacks.h"
#include "base/memory.h"

static const struct frame_name lines[] = { { "lose", "a.rb", 3 },
					   { "main", "a.rb", 9 },
					   { "other", "b.rb", 3 },
					   { "vm_exec", NULL, 0 },
					   { "vm_call", NULL, 0 } };

static const struct symbol_list *name_none(void *context, const struct frame *frame)
{
	static const struct symbol_list none;

	(void)context, (void)frame;
	return &none;
}

static const struct report_names names = { .lookup = name_none };

/* A site with the frames that are named; an internal one of the interpreter is between. */
static void add_site(struct snapshot *snapshot, uint64_t key, size_t inner, size_t internal)
{
	static const struct target target = { .pid = 7, .comm = "app", .pidfd = -1 };
	static const struct function_name function = { "glibc", "malloc", false };
	struct stack *stack = memory_alloc(1, sizeof(*stack) + 3 * sizeof(stack->frames[0]));
	const struct snapshot_site site = {
		.key = key, .target = &target, .function = &function, .stack = stack
	};

	stack->count = 3;
	stack->frames[0] =
		(struct frame){ .kind = FRAME_RUBY, .module = MODULE_NONE, .name = &lines[inner] };
	stack->frames[1] = (struct frame){ .kind = FRAME_NATIVE,
					   .module = MODULE_NONE,
					   .name = &lines[internal],
					   .internal = true };
	stack->frames[2] =
		(struct frame){ .kind = FRAME_RUBY, .module = MODULE_NONE, .name = &lines[1] };
	snapshot_add_site(snapshot, &site);
	if (!snapshot->target_count)
		snapshot_add_target(snapshot, &target);
	stack_free(stack);
}

static void add_group(struct leak_report *report, uint64_t site, uint64_t size, uint64_t blocks)
{
	struct leak_group *group = leak_report_add_group(report);

	group->verdict = LEAK_DEFINITE;
	group->kind = "text";
	group->site = site;
	group->size = size;
	group->own = (struct leak_sum){ blocks, blocks * size };
	group->indirect = (struct leak_sum){ 1, 16 };
	group->address = 0x1000 + size;
}

/* Sites 1 and 2 differ in a function of the interpreter only; site 4 is not in the snapshot; one group has none. */
static void fill(struct snapshot *snapshot, struct leak_report *report)
{
	const struct module_list none = { 0 };

	snapshot_set_modules(snapshot, &none);
	add_site(snapshot, 1, 0, 3);
	add_site(snapshot, 2, 0, 4);
	add_site(snapshot, 3, 2, 3);
	report->pid = 7;
	add_group(report, 1, 100, 5);
	add_group(report, 2, 200, 1);
	add_group(report, 3, 300, 1);
	add_group(report, 4, 10, 2);
	add_group(report, 0, 10, 3);
}

static void test_stacks(void **state)
{
	struct snapshot *snapshot = snapshot_new();
	struct leak_report report = { 0 };

	(void)state;
	fill(snapshot, &report);
	leak_stacks_fill(&report, snapshot, false, &names);
	assert_int_equal(report.group_count, 4);
	assert_int_equal(report.groups[0].own.bytes, 700);
	assert_int_equal(report.groups[0].own.blocks, 6);
	assert_int_equal(report.groups[0].indirect.bytes, 32);
	assert_int_equal(report.groups[0].size, 0);
	assert_int_equal(report.groups[0].frame_count, 2);
	assert_string_equal(report.groups[0].frames[0].function, "lose");
	assert_string_equal(report.groups[0].function, "malloc");
	assert_string_equal(report.groups[1].frames[0].function, "other");
	assert_int_equal(report.groups[2].own.blocks, 3);
	assert_int_equal(report.groups[3].own.blocks, 2);
	assert_int_equal(report.groups[2].site | report.groups[3].site, 0);
	leak_report_free(&report);
	snapshot_free(snapshot);
}

/* With all frames, they are two. */
static void test_all_frames(void **state)
{
	struct snapshot *snapshot = snapshot_new();
	struct leak_report report = { 0 };

	(void)state;
	fill(snapshot, &report);
	leak_stacks_fill(&report, snapshot, true, &names);
	assert_int_equal(report.group_count, 5);
	assert_int_equal(report.groups[0].frame_count, 3);
	leak_report_free(&report);
	snapshot_free(snapshot);
}

static uint64_t sum_of(const struct snapshot *snapshot)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		bytes += site_stats_inuse_bytes(&snapshot->sites[i].stats);
	return bytes;
}

static void check_rows(const struct leak_report *report, const struct snapshot *traced)
{
	struct snapshot *rows = leak_rows_build(report, traced);

	assert_int_equal(rows->site_count, report->group_count);
	assert_int_equal(sum_of(rows), 500 + 200 + 300 + 20 + 30 + 5 * 16);
	assert_ptr_equal(rows->sites[0].target, rows->targets[0]);
	assert_string_equal(rows->sites[rows->site_count - 1].stack->frames[0].name->function,
			    "[no stack: 10 bytes, text]");
	snapshot_free(rows);
}

/* Each byte once, with and without a trace. */
static void test_rows(void **state)
{
	struct snapshot *snapshot = snapshot_new();
	struct leak_report report = { 0 };

	(void)state;
	fill(snapshot, &report);
	check_rows(&report, NULL);
	leak_stacks_fill(&report, snapshot, false, &names);
	check_rows(&report, snapshot);
	leak_report_free(&report);
	snapshot_free(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_all_frames),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
