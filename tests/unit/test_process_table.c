/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slots, ids, pids and ends of traced processes. The processes are children of the test. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "follow/process_table.h"

/* A child that sleeps. */
static struct process *child_start(void)
{
	struct process *process = memory_alloc(1, sizeof(*process));
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	process->target.pid = pid;
	process->target.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	process->space = address_space_new();
	assert_true(process->target.pidfd >= 0);
	return process;
}

static void child_end(const struct process *process)
{
	assert_int_equal(kill(process->target.pid, SIGKILL), 0);
	assert_int_equal(waitpid(process->target.pid, NULL, 0), process->target.pid);
}

static void wait_for_end(const struct process_table *table)
{
	struct pollfd ended = { .fd = process_table_fd(table), .events = POLLIN };

	assert_int_equal(poll(&ended, 1, -1), 1);
}

static void test_ids(void **state)
{
	struct process *children[20];
	struct process_table table;
	uint32_t i;

	(void)state;
	assert_int_equal(process_table_open(&table), 0);
	assert_null(process_table_get(&table, 0));
	assert_null(process_table_get(&table, 1));
	for (i = 0; i < 20; i++) {
		children[i] = child_start();
		assert_null(process_table_reused(&table));
		assert_true(process_table_add(&table, children[i], false));
		assert_int_equal(children[i]->target_id, i + 1);
	}
	for (i = 0; i < 20; i++) {
		assert_ptr_equal(process_table_get(&table, i + 1), children[i]);
		assert_ptr_equal(process_table_find(&table, (uint32_t)children[i]->target.pid),
				 children[i]);
		assert_ptr_equal(process_table_slot(&table, children[i])->process, children[i]);
	}
	assert_null(process_table_get(&table, 21));
	assert_int_equal(process_table_running(&table), 20);
	for (i = 0; i < 20; i++)
		child_end(children[i]);
	process_table_close(&table);
}

static void test_end_and_reuse(void **state)
{
	struct process *first = child_start(), *second = child_start(), *third, *ended[4];
	uint32_t pid = (uint32_t)first->target.pid;
	struct process_table table;

	(void)state;
	process_table_open(&table);
	process_table_add(&table, first, false);
	process_table_add(&table, second, false);
	assert_int_equal(process_table_find_ended(&table, ended, 4), 0);
	assert_false(process_table_has_ended(&table));
	child_end(first);
	wait_for_end(&table);
	assert_false(process_table_has_ended(&table));
	assert_int_equal(process_table_find_ended(&table, ended, 4), 1);
	assert_ptr_equal(ended[0], first);
	process_table_end(&table, first);
	assert_int_equal(process_table_find_ended(&table, ended, 4), 0);
	assert_true(first->target.exited);
	assert_null(process_table_find(&table, pid));
	assert_ptr_equal(process_table_get(&table, 1), first);
	/* The maps hold something of it until it is released. */
	assert_null(process_table_reused(&table));
	process_table_release(&table, first);
	process_table_release(&table, first);
	assert_ptr_equal(process_table_reused(&table), first);
	third = child_start();
	assert_true(process_table_add(&table, third, false));
	assert_int_equal(third->target_id, 1);
	assert_null(process_table_reused(&table));
	assert_int_equal(process_table_running(&table), 2);
	child_end(second);
	child_end(third);
	/* Of these two it is not noted. */
	while (process_table_find_ended(&table, ended, 4) < 2)
		wait_for_end(&table);
	assert_true(process_table_has_ended(&table));
	process_table_close(&table);
}

/* What the user has named stays listed; its end may be the end of tracing. */
static void test_roots(void **state)
{
	struct process *root = child_start(), *other = child_start();
	struct process_table table;

	(void)state;
	process_table_open(&table);
	process_table_add(&table, root, true);
	process_table_add(&table, other, false);
	assert_int_equal(table.roots_running, 1);
	process_table_end(&table, other);
	assert_int_equal(table.roots_running, 1);
	process_table_end(&table, root);
	assert_int_equal(table.roots_running, 0);
	process_table_release(&table, root);
	assert_null(process_table_reused(&table));
	child_end(root);
	child_end(other);
	process_table_close(&table);
}

/* A pid that is used again before the end of its first process was noticed. */
static void test_pid_used_again(void **state)
{
	struct process *first = child_start(), *second = child_start();
	struct process_table table;
	uint32_t pid = (uint32_t)first->target.pid;
	pid_t real = second->target.pid;

	(void)state;
	process_table_open(&table);
	process_table_add(&table, first, false);
	first->is_replaced = true;
	assert_null(process_table_find(&table, pid));
	second->target.pid = (int)pid;
	process_table_add(&table, second, false);
	assert_ptr_equal(process_table_find(&table, pid), second);
	process_table_end(&table, first);
	assert_ptr_equal(process_table_find(&table, pid), second);
	child_end(first);
	second->target.pid = real;
	child_end(second);
	process_table_close(&table);
}

static void test_descendants(void **state)
{
	struct process *process = child_start();
	uint32_t pid = (uint32_t)process->target.pid;
	struct process_table table;

	(void)state;
	process_table_open(&table);
	process_table_add(&table, process, false);
	assert_true(process_table_is_descendant(&table, pid));
	assert_false(process_table_is_descendant(&table, pid + 1));
	process_table_add_descendant(&table, pid + 1);
	assert_true(process_table_is_descendant(&table, pid + 1));
	process_table_remove_descendant(&table, pid + 1);
	assert_false(process_table_is_descendant(&table, pid + 1));
	process_table_add_descendant(&table, pid + 2);
	process_table_forget_descendants(&table);
	assert_false(process_table_is_descendant(&table, pid + 2));
	assert_true(process_table_is_descendant(&table, pid));
	child_end(process);
	process_table_close(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),	    cmocka_unit_test(test_end_and_reuse),
		cmocka_unit_test(test_roots),	    cmocka_unit_test(test_pid_used_again),
		cmocka_unit_test(test_descendants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
