/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory limits of control groups, from trees that the test lays out, and what they leave for the kernel's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "command/table_limits.h"
#include "system/cgroup_memory.h"
#include "unit/scratch.h"

#define MIB (1ull << 20)

static uint64_t limit_in(const struct scratch *root)
{
	char *proc = scratch_path(root, "proc"), *groups = scratch_path(root, "groups");
	uint64_t limit = cgroup_memory_limit(proc, groups);

	free(proc);
	free(groups);
	return limit;
}

static void test_version_2(void **state)
{
	struct scratch scratch = scratch_make(), *root = &scratch;

	(void)state;
	assert_int_equal(limit_in(root), UINT64_MAX);
	scratch_put(root, "proc/self/cgroup", "0::/a/b.scope/c\n");
	assert_int_equal(limit_in(root), UINT64_MAX);
	scratch_put(root, "groups/a/b.scope/c/memory.max", "max\n");
	scratch_put(root, "groups/a/b.scope/memory.max", "1073741824\n");
	assert_int_equal(limit_in(root), 1024 * MIB);
	scratch_put(root, "groups/a/memory.max", "536870912\n");
	assert_int_equal(limit_in(root), 512 * MIB);
	scratch_put(root, "groups/a/b.scope/c/memory.max", "1048576\n");
	assert_int_equal(limit_in(root), MIB);
	scratch_remove(root);
}

/* The path of another namespace: the root is the container's own group. */
static void test_container(void **state)
{
	struct scratch scratch = scratch_make(), *root = &scratch;

	(void)state;
	scratch_put(root, "proc/self/cgroup", "0::/../../kubepods/x\n");
	scratch_put(root, "groups/memory.max", "2147483648\n");
	assert_int_equal(limit_in(root), 2048 * MIB);
	scratch_put(root, "proc/self/cgroup", "0::/\n");
	assert_int_equal(limit_in(root), 2048 * MIB);
	scratch_remove(root);
}

static void test_version_1(void **state)
{
	struct scratch scratch = scratch_make(), *root = &scratch;

	(void)state;
	scratch_put(root, "proc/self/cgroup",
		    "12:cpu,cpuacct:/x\n5:memoryless:/y\n4:hugetlb,memory:/docker/abc\n0::/z\n");
	scratch_put(root, "groups/memory/docker/abc/memory.limit_in_bytes",
		    "9223372036854771712\n");
	scratch_put(root, "groups/memory/y/memory.limit_in_bytes", "4096\n");
	assert_int_equal(limit_in(root), UINT64_MAX);
	scratch_put(root, "groups/memory/docker/memory.limit_in_bytes", "268435456\n");
	assert_int_equal(limit_in(root), 256 * MIB);
	scratch_remove(root);
}

/* Lines without a path, and files without a number, limit nothing; the others count still. */
static void test_damaged(void **state)
{
	struct scratch scratch = scratch_make(), *root = &scratch;

	(void)state;
	scratch_put(root, "groups/memory.max", "many\n");
	scratch_put(root, "groups/memory/a/memory.limit_in_bytes", "");
	scratch_put(root, "proc/self/cgroup", "\nmemory\n4:memory\n4:memory:\n4:memory:/a\n0::/a");
	assert_int_equal(limit_in(root), UINT64_MAX);
	scratch_put(root, "groups/memory/memory.limit_in_bytes", "4096");
	assert_int_equal(limit_in(root), 4096);
	scratch_put(root, "groups/a/memory.max", "2048");
	assert_int_equal(limit_in(root), 2048);
	scratch_remove(root);
}

static void check(uint64_t memory, uint64_t blocks, uint64_t stacks)
{
	struct options options = { 0 };
	struct table_limits limits = table_limits_choose(&options, memory);

	assert_int_equal(limits.blocks, blocks);
	assert_int_equal(limits.stacks, stacks);
	options = (struct options){ .max_blocks = 77, .max_stacks = 88 };
	limits = table_limits_choose(&options, memory);
	assert_int_equal(limits.blocks, 77);
	assert_int_equal(limits.stacks, 88);
	options = (struct options){ .budget = 1000 };
	limits = table_limits_choose(&options, memory);
	assert_int_equal(limits.blocks, 65536);
	assert_int_equal(limits.stacks, stacks);
}

static void test_table_limits(void **state)
{
	(void)state;
	check(UINT64_MAX, 1048576, 65536);
	check(4096 * MIB, 1048576, 65536);
	check(1024 * MIB, 932067, 25575);
	check(256 * MIB, 233016, 6393);
	check(1 * MIB, 65536, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_2),    cmocka_unit_test(test_container),
		cmocka_unit_test(test_version_1),    cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_table_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
