/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers of another process's memory, on a child whose memory the test laid out before the fork. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/process_memory.h"

#define PAGES 200
#define SECOND 1000000000ull

struct child {
	pid_t pid;
	unsigned char *memory; /* PAGES pages */
	size_t page;
};

static pid_t child_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static struct child child_start(void)
{
	struct child child = { .page = (size_t)sysconf(_SC_PAGESIZE) };
	size_t i;

	child.memory = mmap(NULL, PAGES * child.page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(child.memory != MAP_FAILED);
	for (i = 0; i < PAGES * child.page; i++)
		child.memory[i] = (unsigned char)(i * 7 + i / child.page);
	child.pid = child_fork();
	return child;
}

static void child_end_process(struct child *child)
{
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static void child_end(struct child *child)
{
	child_end_process(child);
	munmap(child->memory, PAGES * child->page);
}

static void test_read(void **state)
{
	struct call_patience patience = { .full_ns = SECOND };
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
		assert_int_equal(process_memory_read(child.pid, (uintptr_t)at, bytes, spans[i].size,
						     &patience),
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
	struct call_patience patience = { .full_ns = SECOND };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), hole;
	unsigned char *bytes = malloc(PAGES * page);

	(void)state;
	for (hole = 1; hole < PAGES; hole += 63) {
		struct child child = child_start();
		uintptr_t at = (uintptr_t)child.memory + 5;

		/* Of the test's own memory: it is the child's neighbour in name only. */
		assert_int_equal(munmap(child.memory + hole * page, page), 0);
		assert_int_equal(
			process_memory_read(getpid(), at, bytes, (PAGES - 1) * page, &patience),
			hole * page - 5);
		assert_memory_equal(bytes, child.memory + 5, hole * page - 5);
		assert_int_equal(
			process_memory_read(getpid(), at + hole * page - 5, bytes, 1, &patience),
			-EFAULT);
		assert_int_equal(
			process_memory_read(child.pid, at, bytes, (PAGES - 1) * page, &patience),
			(PAGES - 1) * page);
		child_end(&child);
	}
	free(bytes);
}

/* Pages that a child has alone, as the kernel has it. */
static size_t count_exclusive(const struct child *child)
{
	uint64_t entries[PAGES];
	size_t i, count = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)child->pid);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, entries, sizeof(entries),
			       (off_t)((uintptr_t)child->memory / child->page * 8)),
			 sizeof(entries));
	close(fd);
	for (i = 0; i < PAGES; i++)
		count += entries[i] >> 56 & 1;
	return count;
}

/* Pages that are shared since the fork stay so. */
static void test_shared(void **state)
{
	struct call_patience patience = { .full_ns = SECOND };
	struct child child = child_start();
	unsigned char *bytes = malloc(PAGES * child.page);

	(void)state;
	/* Without it the numbers of pages are not shown, which it takes to distinguish them from those of devices. */
	if (geteuid())
		skip();
	assert_int_equal(count_exclusive(&child), 0);
	assert_int_equal(process_memory_read_present(child.pid, (uintptr_t)child.memory, bytes,
						     PAGES * child.page),
			 PAGES * child.page);
	assert_memory_equal(bytes, child.memory, PAGES * child.page);
	assert_int_equal(count_exclusive(&child), 0);
	child_end_process(&child);
	/* One that lacks the first of them, which is waited for. */
	assert_int_equal(madvise(child.memory, child.page, MADV_DONTNEED), 0);
	child.pid = child_fork();
	assert_int_equal(process_memory_read(child.pid, (uintptr_t)child.memory, bytes,
					     PAGES * child.page, &patience),
			 PAGES * child.page);
	assert_memory_equal(bytes + child.page, child.memory + child.page,
			    (PAGES - 1) * child.page);
	assert_in_range(count_exclusive(&child), 0, 1);
	free(bytes);
	child_end(&child);
}

static void test_failure(void **state)
{
	struct call_patience patience = { .full_ns = SECOND };
	struct child child = child_start();
	char bytes[64];

	(void)state;
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 64, &patience), -EFAULT);
	assert_int_equal(process_memory_read(child.pid, UINT64_MAX - 8, bytes, 64, &patience),
			 -EFAULT);
	assert_int_equal(process_memory_read(child.pid, 1ull << 63, bytes, 64, &patience), -EFAULT);
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 0, &patience), 0);
	child_end(&child);
	assert_int_equal(process_memory_read(child.pid, 0, bytes, 64, &patience), -ESRCH);
}

static void test_failure_present(void **state)
{
	struct child child = child_start();
	char bytes[64];

	(void)state;
	assert_int_equal(process_memory_read_present(child.pid, 1ull << 63, bytes, 64), -ENODATA);
	assert_int_equal(process_memory_read_present(child.pid, 0, bytes, 0), 0);
	child_end(&child);
	assert_true(process_memory_read_present(child.pid, (uintptr_t)child.memory, bytes, 64) < 0);
}

/* The zeros of memory that nobody has touched are none of what is present. */
static void test_absent(void **state)
{
	struct call_patience patience = { .full_ns = SECOND };
	struct child child = child_start();
	size_t page = child.page;
	uintptr_t at = (uintptr_t)child.memory;
	unsigned char *bytes = malloc(3 * page);

	(void)state;
	child_end(&child);
	child.memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	assert_true(child.memory != MAP_FAILED);
	assert_int_equal(madvise(child.memory, PAGES * page, MADV_NOHUGEPAGE), 0);
	memset(child.memory, 7, page);
	child.pid = fork();
	if (child.pid == 0) {
		pause();
		_exit(0);
	}
	at = (uintptr_t)child.memory;
	assert_int_equal(process_memory_read_present(child.pid, at, bytes, 3 * page), page);
	assert_int_equal(process_memory_read_present(child.pid, at + page, bytes, 1), -ENODATA);
	assert_int_equal(process_memory_read(child.pid, at, bytes, 3 * page, &patience), 3 * page);
	assert_int_equal(bytes[page - 1], 7);
	assert_int_equal(bytes[page], 0);
	assert_int_equal(patience.late, 0);
	free(bytes);
	child_end(&child);
}

/* A child that hands out the faults of all but the first of three pages, and handles none. */
static pid_t start_unhandled(unsigned char *memory, size_t page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)memory + page, 2 * page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int ends[2], faults;
	char ready = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
		ready = faults >= 0 && !ioctl(faults, UFFDIO_API, &api) &&
			!ioctl(faults, UFFDIO_REGISTER, &range);
		memset(memory, 9, page);
		if (write(ends[1], &ready, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &ready, 1), 1);
	close(ends[0]);
	close(ends[1]);
	if (!ready) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return ready ? pid : 0;
}

static void test_unhandled(void **state)
{
	struct call_patience patience = { .full_ns = SECOND / 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *bytes = malloc(3 * page), *memory;
	struct child child = { .page = page };
	uintptr_t at;

	(void)state;
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	assert_true(memory != MAP_FAILED);
	assert_int_equal(madvise(memory, PAGES * page, MADV_NOHUGEPAGE), 0);
	at = (uintptr_t)memory;
	child.memory = memory;
	child.pid = start_unhandled(memory, page);
	if (!child.pid) {
		free(bytes);
		munmap(memory, PAGES * page);
		skip(); /* userfaultfd is not for everybody */
	}
	assert_int_equal(process_memory_read_present(child.pid, at, bytes, 3 * page), page);
	assert_int_equal(process_memory_read_present(child.pid, at + page, bytes, 1), -ENODATA);
	assert_int_equal(process_memory_read(child.pid, at, bytes, 3 * page, &patience), page);
	assert_int_equal(bytes[0], 9);
	assert_int_equal(process_memory_read(child.pid, at + page, bytes, 8, &patience),
			 -ETIMEDOUT);
	assert_int_equal(patience.late, 2);
	free(bytes);
	child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_failure_present),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_unhandled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
