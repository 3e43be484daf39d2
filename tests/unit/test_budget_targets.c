/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of --budget: who is looked at in a pass, and whose place is whose. They are real ones, which do nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "windows/budget_targets.h"
#include "unit/child.h"

#define CHILDREN (BUDGET_PASS_MOST + 8)

static struct child children[CHILDREN];
static size_t child_count;
static struct process_table table;
static struct budget_cohort_set cohort;
static struct budget_targets targets;
static struct log quiet;
static uint64_t words[2]; /* each child has a copy of its own, at the same address */

static int set_up(void **state)
{
	(void)state;
	child_count = 0;
	cohort = (struct budget_cohort_set){ 0 };
	targets = (struct budget_targets){ .processes = &table, .cohort = &cohort, .log = &quiet };
	return process_table_open(&table);
}

static int tear_down(void **state)
{
	(void)state;
	budget_targets_free(&targets);
	budget_cohort_free(&cohort);
	process_table_close(&table);
	while (child_count)
		child_end(&children[--child_count]);
	return 0;
}

static struct process *start(void)
{
	struct error error = { 0 };
	struct process *process;

	children[child_count] = child_start();
	assert_int_equal(process_open(children[child_count++].pid, &process, &error), 0);
	assert_true(process_table_add(&table, process, false));
	return process;
}

/* The last one that was started ends, and leaves nothing. */
static void end(struct process *process)
{
	child_end(&children[--child_count]);
	process->target.exited = true;
	process_table_end(&table, process);
	process_table_release(&table, process);
}

/* A window has recorded a block of the process. */
static void record(uint32_t target_id)
{
	const struct cohort_entry entry = { .site = 100 + target_id,
					    .target_id = target_id,
					    .address = (uintptr_t)words,
					    .size = 16,
					    .born_ns = clock_now_ns(),
					    .length = 16 };

	assert_true(budget_cohort_enter(&cohort, &entry, entry.born_ns));
}

static size_t count_looked(uint64_t since_ns)
{
	size_t i, looked = 0;

	for (i = 0; i < targets.count; i++)
		looked += targets.items[i].looked_ns >= since_ns;
	return looked;
}

/* So many in a pass, the others in the next one; and the report has how many were not looked at yet. */
static void test_turns(void **state)
{
	struct budget_report *report = budget_report_new();
	uint64_t begin_ns = clock_now_ns(), next_ns;
	size_t i, passes;

	(void)state;
	for (i = 0; i < CHILDREN; i++)
		record(start()->target_id);
	budget_targets_follow(&targets);
	budget_targets_look(&targets, true);
	/* On a slow machine, fewer. */
	assert_in_range(count_looked(begin_ns), 1, BUDGET_PASS_MOST);
	budget_targets_report(&targets, report);
	assert_int_equal(report->processes, CHILDREN);
	assert_int_equal(report->processes_unseen, CHILDREN - count_looked(begin_ns));
	budget_report_free(report);
	for (passes = 1; count_looked(begin_ns) < CHILDREN; passes++) {
		next_ns = clock_now_ns();
		budget_targets_look(&targets, true);
		assert_in_range(count_looked(next_ns), 1, BUDGET_PASS_MOST);
		assert_true(passes < CHILDREN);
	}
	report = budget_report_new();
	report->time_ns = clock_now_ns();
	budget_targets_report(&targets, report);
	assert_int_equal(report->processes_unseen, 0);
	assert_in_range(report->oldest_look_ns, 1, report->time_ns - begin_ns);
	budget_report_free(report);
}

/* A process that has nothing to be looked at takes no place in a pass. */
static void test_idle(void **state)
{
	uint64_t next_ns;
	size_t i;

	(void)state;
	for (i = 0; i < CHILDREN; i++)
		start();
	targets.census_ns = UINT64_MAX;
	record(CHILDREN);
	budget_targets_follow(&targets);
	next_ns = clock_now_ns();
	budget_targets_look(&targets, true);
	assert_int_equal(count_looked(next_ns), 1);
	assert_true(targets.items[CHILDREN - 1].looked_ns >= next_ns);
}

/* Before a window, mappings are listed of those that have allocated lately. */
static void test_refresh(void **state)
{
	size_t i, before[CHILDREN];

	(void)state;
	for (i = 0; i < CHILDREN; i++)
		start();
	budget_targets_follow(&targets);
	for (i = 0; i < CHILDREN; i++) {
		targets.items[i].recorded = i;
		before[i] = targets.items[i].image->refreshes;
	}
	budget_targets_refresh(&targets);
	for (i = 0; i < CHILDREN; i++)
		assert_int_equal(targets.items[i].image->refreshes - before[i],
				 i >= CHILDREN - BUDGET_PASS_MOST);
}

/* Another process gets the place of one that has ended: it is followed, and has nothing of that one. */
static void test_place_of_another(void **state)
{
	struct process *first, *second;
	uint32_t target_id;
	uint64_t cpu_ns;

	(void)state;
	start();
	first = start();
	target_id = first->target_id;
	budget_targets_follow(&targets);
	record(target_id);
	record(1);
	targets.items[target_id - 1].cpu_ns = 3600ull * 1000000000;
	cpu_ns = budget_targets_read_cpu(&targets);
	assert_true(cpu_ns >= 3600ull * 1000000000);
	end(first);
	second = start();
	assert_int_equal(second->target_id, target_id);
	budget_targets_follow(&targets);
	assert_int_equal(budget_targets_find(&targets, target_id)->pid, second->target.pid);
	assert_non_null(budget_targets_find(&targets, target_id)->image);
	assert_false(budget_targets_find(&targets, target_id)->ended);
	assert_null(budget_cohort_find(&cohort, target_id, (uintptr_t)words));
	assert_non_null(budget_cohort_find(&cohort, 1, (uintptr_t)words));
	assert_int_equal(cohort.sites.count, 1);
	assert_true(budget_targets_read_cpu(&targets) >= cpu_ns);
}

/* The same if it was known that the first one has ended. */
static void test_place_of_an_ended_one(void **state)
{
	struct process *first = start(), *second;

	(void)state;
	budget_targets_follow(&targets);
	end(first);
	budget_targets_follow(&targets);
	assert_true(targets.items[0].ended);
	assert_null(targets.items[0].image);
	second = start();
	budget_targets_follow(&targets);
	assert_int_equal(targets.items[0].pid, second->target.pid);
	assert_false(targets.items[0].ended);
	assert_non_null(targets.items[0].image);
}

static void test_none(void **state)
{
	(void)state;
	budget_targets_follow(&targets);
	budget_targets_look(&targets, true);
	assert_null(budget_targets_find(&targets, 0));
	assert_null(budget_targets_find(&targets, 1));
	assert_int_equal(budget_targets_read_cpu(&targets), 0);
}

#define TARGETS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TARGETS_TEST(test_turns),
		TARGETS_TEST(test_idle),
		TARGETS_TEST(test_refresh),
		TARGETS_TEST(test_place_of_another),
		TARGETS_TEST(test_place_of_an_ended_one),
		TARGETS_TEST(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
