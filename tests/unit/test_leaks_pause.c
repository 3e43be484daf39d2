/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a process is not stopped for a pass, and who shares its memory: as clone(2) has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "memory/leaks_pause.h"
#include "reach/reach_graph.h"
#include "system/memory_sharer.h"

#define STACK_BYTES 65536
#define SECOND_NS 1000000000ull

static char stack[STACK_BYTES];

static int live(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

static pid_t child_of(int flags)
{
	pid_t pid = clone(live, stack + sizeof(stack), flags | SIGCHLD, NULL);

	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_who_shares(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(memory_sharer_find("/proc", getpid()), 0);
	pid = child_of(0);
	assert_int_equal(memory_sharer_find("/proc", getpid()), 0);
	assert_int_equal(memory_sharer_find("/proc", pid), 0);
	end_child(pid);
	pid = child_of(CLONE_VM);
	assert_int_equal(memory_sharer_find("/proc", getpid()), pid);
	assert_int_equal(memory_sharer_find("/proc", pid), getpid());
	end_child(pid);
	assert_int_equal(memory_sharer_find("/proc", getpid()), 0);
	/* Not known: no such process, nothing to find others in. */
	assert_int_equal(memory_sharer_find("/proc", pid), -1);
	assert_int_equal(memory_sharer_find("/nowhere", getpid()), -1);
}

static bool is_allowed(const struct leaks_wanted *wanted, uint64_t until_ns, uint64_t pass_ns,
		       uint64_t blocks, const char *remark)
{
	struct image image = { .until_ns = until_ns };
	const struct leaks_pause pause = { .wanted = wanted, .image = &image };
	struct leak_report report = { 0 };
	bool allowed = leaks_pause_is_allowed(&pause, pass_ns, blocks, &report);

	if (remark)
		assert_non_null(strstr(report.remarks.data, remark));
	else
		assert_int_equal(report.remarks.length, 0);
	leak_report_free(&report);
	return allowed;
}

static void test_when_it_is_allowed(void **state)
{
	const uint64_t blocks = 1000000, later_ns = clock_now_ns() + 100000 * SECOND_NS;
	struct leaks_wanted wanted = { .pid = getpid(),
				       .max_pause_ns = 3 * SECOND_NS,
				       .max_memory = 2 * reach_graph_need(blocks) };
	pid_t pid;

	(void)state;
	assert_true(is_allowed(&wanted, 0, SECOND_NS, blocks, NULL));
	assert_true(is_allowed(&wanted, later_ns, SECOND_NS, blocks, NULL));
	assert_false(is_allowed(&wanted, later_ns, 4 * SECOND_NS, blocks, "--max-pause is 3.0 s"));
	assert_false(is_allowed(&wanted, clock_now_ns() + SECOND_NS / 2, SECOND_NS, blocks,
				"of --deadline are left"));
	assert_false(is_allowed(&wanted, later_ns, SECOND_NS, blocks + 1, "--max-memory is more"));
	pid = child_of(CLONE_VM);
	assert_false(is_allowed(&wanted, later_ns, SECOND_NS, blocks, "shares its memory"));
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_shares),
		cmocka_unit_test(test_when_it_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
