/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of a child. Truth: which of them the test has written to before the fork. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/process_pages.h"

#define PAGES 5000
#define RESERVED (1ull << 40)
#define SECOND 1000000000ull

static unsigned char *memory, *reserved;
static size_t page;
static pid_t child;
static struct process_pages pages;

static int set_up(void **state)
{
	size_t i;

	(void)state;
	page = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	reserved = mmap(NULL, RESERVED, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || reserved == MAP_FAILED)
		return -1;
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	madvise(reserved, RESERVED, MADV_NOHUGEPAGE);
	/* Two of three, so that there are more runs than fit into one answer. */
	for (i = 0; i < PAGES; i++)
		if (i % 3)
			memory[i * page] = (unsigned char)i;
	reserved[RESERVED / 2] = 1;
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	return process_pages_open(&pages, child);
}

static int tear_down(void **state)
{
	(void)state;
	process_pages_close(&pages);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(memory, PAGES * page);
	munmap(reserved, RESERVED);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static uint64_t count(const unsigned char *start, uint64_t size)
{
	uint64_t bytes = 1;

	assert_true(process_pages_count(&pages, (uintptr_t)start, (uintptr_t)start + size,
					clock_now_ns() + 60 * SECOND, &bytes));
	return bytes;
}

static void check_counts(void)
{
	size_t i, there = 0;

	for (i = 0; i < PAGES; i++)
		there += i % 3 != 0;
	assert_int_equal(count(memory, PAGES * page), there * page);
	assert_int_equal(count(memory, page), 0);
	assert_int_equal(count(memory + page, page), page);
	assert_int_equal(count(memory + 3 * page, 6 * page), 4 * page);
	assert_int_equal(count(memory, 0), 0);
}

static void test_count(void **state)
{
	(void)state;
	check_counts();
	/* Of a reservation, whole tables of pages are missing. */
	if (pages.scans)
		assert_int_equal(count(reserved, RESERVED), page);
}

/* Where the kernel has no PAGEMAP_SCAN. */
static void test_count_in_map(void **state)
{
	(void)state;
	pages.scans = false;
	check_counts();
}

struct list {
	size_t count;
	struct {
		uint64_t start, end;
		unsigned int bits;
	} items[PAGES];
};

static void list_add(void *context, uint64_t start, uint64_t end, unsigned int bits)
{
	struct list *list = context;

	/* Where a call has ended there may be two runs instead of one. */
	if (list->count && list->items[list->count - 1].end == start &&
	    list->items[list->count - 1].bits == bits) {
		list->items[list->count - 1].end = end;
		return;
	}
	assert_true(list->count < PAGES);
	list->items[list->count].start = start;
	list->items[list->count].end = end;
	list->items[list->count++].bits = bits;
}

static void list_all(struct list *list)
{
	const struct process_pages_sink sink = { list_add, list };

	*list = (struct list){ 0 };
	assert_true(process_pages_list(&pages, (uintptr_t)memory, (uintptr_t)memory + PAGES * page,
				       clock_now_ns() + 60 * SECOND, &sink));
}

/* What a kernel without PAGEMAP_SCAN has is the same. */
static void test_list(void **state)
{
	static struct list scanned, read;
	size_t i;

	(void)state;
	list_all(&scanned);
	assert_int_equal(scanned.count, (PAGES + 1) / 3);
	for (i = 0; i < scanned.count; i++) {
		assert_int_equal(scanned.items[i].start, (uintptr_t)memory + (3 * i + 1) * page);
		assert_int_equal(scanned.items[i].bits, PROCESS_PAGE_PRESENT);
	}
	pages.scans = false;
	list_all(&read);
	assert_int_equal(read.count, scanned.count);
	assert_memory_equal(&read, &scanned, sizeof(read));
}

/* A page that was read and never written is the kernel's page of zeroes, if it has one: both ways have the same of it. */
static void test_zero(void **state)
{
	static struct list scanned, read;
	volatile unsigned char *first = memory;

	(void)state;
	if (geteuid())
		skip();
	process_pages_close(&pages);
	assert_int_equal(process_pages_open(&pages, getpid()), 0);
	assert_int_equal(first[0] + first[3 * page], 0);
	list_all(&scanned);
	assert_int_equal(scanned.items[0].start, (uintptr_t)memory);
	pages.scans = false;
	list_all(&read);
	assert_int_equal(read.count, scanned.count);
	assert_memory_equal(&read, &scanned, sizeof(read));
}

static void test_late(void **state)
{
	uint64_t bytes = 7;

	(void)state;
	assert_false(process_pages_count(&pages, (uintptr_t)memory,
					 (uintptr_t)memory + PAGES * page, clock_now_ns(), &bytes));
	assert_int_equal(bytes, 7);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(process_pages_count(&pages, (uintptr_t)memory, (uintptr_t)memory + page,
					 clock_now_ns() + 60 * SECOND, &bytes));
	assert_int_equal(process_pages_open(&pages, child) < 0, 1);
}

/* Only pages that are there, and none is brought in. */
static void test_read(void **state)
{
	unsigned char bytes[2];

	(void)state;
	assert_true(process_pages_read(&pages, (uintptr_t)memory + page, bytes, 1));
	assert_int_equal(bytes[0], 1);
	assert_true(process_pages_read(&pages, (uintptr_t)memory + 2 * page - 1, bytes, 2));
	assert_int_equal(bytes[0], 0);
	assert_int_equal(bytes[1], 2);
	assert_false(process_pages_read(&pages, (uintptr_t)memory, bytes, 1));
	assert_false(process_pages_read(&pages, (uintptr_t)memory + 3 * page - 1, bytes, 2));
	assert_false(process_pages_read(&pages, (uintptr_t)memory + page, bytes, 0));
	assert_false(process_pages_read(&pages, UINT64_MAX - 1, bytes, 2));
	assert_false(process_pages_read(&pages, (uint64_t)INT64_MAX, bytes, 2));
	check_counts();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_count), TEST(test_count_in_map), TEST(test_list),
		TEST(test_zero),  TEST(test_late),	   TEST(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
