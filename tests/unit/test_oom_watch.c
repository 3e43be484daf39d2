/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kills in control groups, from trees that the test lays out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "system/oom_watch.h"
#include "unit/scratch.h"

struct world {
	struct scratch scratch;
	char *proc, *groups;
	struct oom_watch watch;
};

static struct world world_make(void)
{
	struct world world = { .scratch = scratch_make() };

	world.proc = scratch_path(&world.scratch, "proc");
	world.groups = scratch_path(&world.scratch, "groups");
	return world;
}

static void world_free(struct world *world)
{
	oom_watch_free(&world->watch);
	scratch_remove(&world->scratch);
	free(world->proc);
	free(world->groups);
}

static void add(struct world *world, pid_t pid)
{
	oom_watch_add(&world->watch, world->proc, world->groups, pid);
}

static void test_version_2(void **state)
{
	struct world world = world_make();

	(void)state;
	scratch_put(&world.scratch, "proc/7/cgroup", "0::/a/b.scope\n");
	scratch_put(&world.scratch, "proc/8/cgroup", "0::/a/b.scope\n");
	scratch_put(&world.scratch, "proc/9/cgroup", "0::/c\n");
	scratch_put(&world.scratch, "proc/vmstat", "oom_kill 1000\n");
	scratch_put(&world.scratch, "groups/a/b.scope/memory.events",
		    "low 1\nhigh 0\nmax 9\noom 5\noom_kill 3\n");
	scratch_put(&world.scratch, "groups/c/memory.events",
		    "oom 5\noom_kill 0\noom_group_kill 0\n");
	add(&world, 7);
	add(&world, 8);
	add(&world, 9);
	assert_int_equal(world.watch.count, 2);
	assert_int_equal(oom_watch_take(&world.watch), 0);
	/* A limit that was reached kills nobody. */
	scratch_put(&world.scratch, "groups/a/b.scope/memory.events",
		    "low 1\nhigh 0\nmax 99\noom 6\noom_kill 3\n");
	assert_int_equal(oom_watch_take(&world.watch), 0);
	scratch_put(&world.scratch, "groups/a/b.scope/memory.events", "oom 7\noom_kill 5\n");
	scratch_put(&world.scratch, "groups/c/memory.events",
		    "oom 5\noom_kill 1\noom_group_kill 1\n");
	assert_int_equal(oom_watch_take(&world.watch), 3);
	assert_int_equal(oom_watch_take(&world.watch), 0);
	world_free(&world);
}

static void test_version_1(void **state)
{
	struct world world = world_make();

	(void)state;
	scratch_put(&world.scratch, "proc/7/cgroup",
		    "12:cpu,cpuacct:/x\n5:memoryless:/y\n4:memory:/docker/abc\n0::/z\n");
	scratch_put(&world.scratch, "groups/memory/docker/abc/memory.oom_control",
		    "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
	scratch_put(&world.scratch, "groups/z/memory.events", "oom_kill 0\n");
	add(&world, 7);
	scratch_put(&world.scratch, "groups/z/memory.events", "oom_kill 1\n");
	assert_int_equal(oom_watch_take(&world.watch), 0);
	scratch_put(&world.scratch, "groups/memory/docker/abc/memory.oom_control",
		    "oom_kill_disable 0\nunder_oom 1\noom_kill 2\n");
	assert_int_equal(oom_watch_take(&world.watch), 1);
	world_free(&world);
}

/* The root of a container is its own group. Where there is no group that counts, the machine does. */
static void test_elsewhere(void **state)
{
	struct world world = world_make();

	(void)state;
	scratch_put(&world.scratch, "proc/7/cgroup", "0::/\n");
	scratch_put(&world.scratch, "proc/8/cgroup", "0::/../../other\n");
	scratch_put(&world.scratch, "proc/9/cgroup", "");
	scratch_put(&world.scratch, "groups/memory.events", "oom_kill 4\n");
	scratch_put(&world.scratch, "proc/vmstat", "pgfault 77\noom_kill 1\nnr_x 3\n");
	add(&world, 7);
	add(&world, 8);
	add(&world, 6); /* has gone */
	assert_int_equal(world.watch.count, 1);
	scratch_put(&world.scratch, "groups/memory.events", "oom_kill 5\n");
	scratch_put(&world.scratch, "proc/vmstat", "pgfault 77\noom_kill 2\nnr_x 3\n");
	assert_int_equal(oom_watch_take(&world.watch), 1);
	add(&world, 9);
	scratch_put(&world.scratch, "proc/vmstat", "pgfault 77\noom_kill 4\nnr_x 3\n");
	assert_int_equal(oom_watch_take(&world.watch), 2);
	world_free(&world);
}

/* A group that goes, and one of its name that comes. */
static void test_gone(void **state)
{
	struct world world = world_make();

	(void)state;
	scratch_put(&world.scratch, "proc/7/cgroup", "0::/a\n");
	scratch_put(&world.scratch, "groups/a/memory.events", "oom_kill 5\n");
	add(&world, 7);
	assert_int_equal(scratch_run("rm -r '%s/a'", world.groups), 0);
	assert_int_equal(oom_watch_take(&world.watch), 0);
	assert_int_equal(world.watch.count, 0);
	scratch_put(&world.scratch, "groups/a/memory.events", "oom_kill 0\n");
	add(&world, 7);
	scratch_put(&world.scratch, "groups/a/memory.events", "oom_kill 1\n");
	assert_int_equal(oom_watch_take(&world.watch), 1);
	scratch_put(&world.scratch, "groups/a/memory.events", "nonsense");
	assert_int_equal(oom_watch_take(&world.watch), 0);
	assert_int_equal(world.watch.count, 0);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
