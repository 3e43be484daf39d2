/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process waits while it opens a file: what is in place when it goes on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "discover/module_finder.h"
#include "follow/hold.h"
#include "unit/session_world.h"

/* The module of a file that is being opened. */
static uint32_t open_module(const char *path, pid_t pid)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t module = module_find_open(&world.modules, pid, fd);

	assert_true(module != MODULE_NONE);
	close(fd);
	return module;
}

/* Its first calls are made before the mapping's record is read: probes and rows are there. */
static void test_rows_come_first(void **state)
{
	struct process *process;
	uint32_t module;

	(void)state;
	process = world_trace(&world, NULL, false);
	assert_int_equal(fake_added_count, 0);
	module = open_module(world.allocator, process->target.pid);
	assert_true(hold_see_open(&world.core.follow, process->target.pid, module, false));
	assert_int_equal(fake_added_count, 1);
	assert_int_equal(fake_added[0], module);
	/* A probe without rows would record stacks that are cut short. */
	assert_int_equal(fake_added_at_attach, 1);
	assert_int_equal(world_probes(), 1);
	/* It is opened again. */
	assert_true(hold_see_open(&world.core.follow, process->target.pid, module, false));
	assert_int_equal(world_probes(), 1);
}

/* A file in which nothing is probed is not waited for again, but stacks run through it. */
static void test_nothing_to_probe(void **state)
{
	struct process *process;
	uint32_t module;
	char *path;

	(void)state;
	process = world_trace(&world, NULL, false);
	path = scratch_file(&world.scratch, "plain.so", "nothing", 7, 0644);
	module = open_module(path, process->target.pid);
	assert_false(hold_see_open(&world.core.follow, process->target.pid, module, false));
	assert_int_equal(fake_added_count, 1);
	assert_int_equal(fake_added[0], module);
	assert_int_equal(fake_attach_calls, 0);
	free(path);
}

/* A child that executes a file before its fork has been read. What was held when the program began is not late. */
static void test_unknown_child(void **state)
{
	struct process *process;
	struct child *child;
	uint32_t module;

	(void)state;
	world.core.late.start_ns = clock_now_ns();
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	module = open_module(world.allocator, child->pid);
	assert_true(hold_see_open(&world.core.follow, child->pid, module, false));
	process = world_find(&world, child->pid);
	assert_non_null(process);
	assert_false(process_table_slot(&world.core.processes, process)->root);
	assert_int_equal(world_probes(), 1);
	/* It has run in its own memory: its calls of that time are missing. */
	assert_int_equal(world.core.late.children, 1);
}

static void test_stranger(void **state)
{
	struct child *child;
	uint32_t module;

	(void)state;
	world.core.follow.children = false;
	child = world_start(&world);
	module = open_module(world.allocator, child->pid);
	assert_true(hold_see_open(&world.core.follow, child->pid, module, true));
	assert_null(world_find(&world, child->pid));
	assert_int_equal(fake_added_count, 0);
	assert_int_equal(fake_attach_calls, 0);
}

/* In the memory of its parent, as after vfork: it is traced once it leaves that, by exec, and no sooner. */
static void test_sharer(void **state)
{
	struct process *parent, *process;
	struct child *child;
	uint32_t module;
	pid_t sharer;

	(void)state;
	world.core.late.start_ns = clock_now_ns();
	parent = world_trace(&world, &child, true);
	sharer = (pid_t)child_ask(child, CHILD_SHARE, NULL);
	module = open_module(world.allocator, sharer);
	assert_true(hold_see_open(&world.core.follow, sharer, module, false));
	assert_null(world_find(&world, sharer));
	assert_int_equal(world.core.late.shared, 1);
	assert_non_null(parent->target.late);
	assert_true(hold_see_open(&world.core.follow, sharer, module, true));
	process = world_find(&world, sharer);
	assert_non_null(process);
	assert_int_equal(world.core.late.shared, 1);
	/* What it called until now was in its parent's memory. */
	assert_int_equal(world.core.late.children, 0);
}

/* It has ended while it was held. */
static void test_ended(void **state)
{
	struct child *child;
	uint32_t module;
	pid_t pid;

	(void)state;
	child = world_start(&world);
	module = open_module(world.allocator, child->pid);
	pid = child->pid;
	child_end(child);
	assert_true(hold_see_open(&world.core.follow, pid, module, true));
	assert_int_equal(world.core.processes.count, 0);
	assert_int_equal(fake_attach_calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_rows_come_first), WORLD_TEST(test_nothing_to_probe),
		WORLD_TEST(test_unknown_child),	  WORLD_TEST(test_stranger),
		WORLD_TEST(test_sharer),	  WORLD_TEST(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
