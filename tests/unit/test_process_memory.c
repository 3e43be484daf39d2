/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_memory_read on a child whose memory the test laid out before the fork. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/process_memory.h"

#define PAGES 200

struct child {
	pid_t pid;
	unsigned char *memory; /* PAGES pages */
	size_t page;
};

static struct child child_start(void)
{
	struct child child = { .page = (size_t)sysconf(_SC_PAGESIZE) };
	size_t i;

	child.memory = mmap(NULL, PAGES * child.page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(child.memory != MAP_FAILED);
	for (i = 0; i < PAGES * child.page; i++)
		child.memory[i] = (unsigned char)(i * 7 + i / child.page);
	child.pid = fork();
	if (child.pid == 0) {
		pause();
		_exit(0);
	}
	return child;
}

static void child_end(struct child *child)
{
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
	munmap(child->memory, PAGES * child->page);
}

static void test_read(void **state)
{
	static const struct {
		size_t offset, size;
	} spans[] = { { 0, 1 }, { 1, 0 }, { 17, 5000 }, { 4095, 2 }, { 3, 150 * 4096 } };
	struct child child = child_start();
	unsigned char *bytes = malloc(PAGES * child.page);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		const unsigned char *at = child.memory + spans[i].offset;

		memset(bytes, 0, PAGES * child.page);
		assert_int_equal(
			process_memory_read(child.pid, (uintptr_t)at, bytes, spans[i].size),
			spans[i].size);
		assert_memory_equal(bytes, at, spans[i].size);
		assert_int_equal(bytes[spans[i].size], 0);
	}
	free(bytes);
	child_end(&child);
}

/* Up to the hole: its page alone is missing, in the middle of what is asked for. */
static void test_hole(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), hole;
	unsigned char *bytes = malloc(PAGES * page);

	(void)state;
	for (hole = 1; hole < PAGES; hole += 63) {
		struct child child = child_start();
		uintptr_t at = (uintptr_t)child.memory + 5;

		/* Of the test's own memory: it is the child's neighbour in name only. */
		assert_int_equal(munmap(child.memory + hole * page, page), 0);
		assert_int_equal(process_memory_read(getpid(), at, bytes, (PAGES - 1) * page),
				 hole * page - 5);
		assert_memory_equal(bytes, child.memory + 5, hole * page - 5);
		assert_int_equal(process_memory_read(getpid(), at + hole * page - 5, bytes, 1),
				 -EFAULT);
		assert_int_equal(process_memory_read(child.pid, at, bytes, (PAGES - 1) * page),
				 (PAGES - 1) * page);
		child_end(&child);
	}
	free(bytes);
}

static void test_failure(void **state)
{
	struct child child = child_start();
	char bytes[64];

	(void)state;
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 64), -EFAULT);
	assert_int_equal(process_memory_read(child.pid, UINT64_MAX - 8, bytes, 64), -EFAULT);
	assert_int_equal(process_memory_read(child.pid, 1ull << 63, bytes, 64), -EFAULT);
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 0), 0);
	child_end(&child);
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 64), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
