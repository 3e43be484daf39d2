/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images, made up and of a child. Truth: what the test has put there, and which pages it has written before the fork. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/window.h"
#include "unit/fake_image.h"

#define BASE 0x100000ull

static struct fake_image *fake;

static int set_up(void **state)
{
	(void)state;
	fake = fake_image_new();
	/* Two that touch, one behind a gap, and a reservation of a terabyte. */
	fake_image_map(fake, BASE + 0x4000, 0x4000, "/lib/x.so", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(fake, BASE, 0x4000, "[heap]", FAKE_WRITABLE);
	fake_image_map(fake, BASE + 0x10000, 0x1000, "", FAKE_WRITABLE);
	fake_image_map(fake, 1ull << 40, 1ull << 40, "", FAKE_WRITABLE);
	fake_image_absent(fake, 1ull << 40, 1ull << 40);
	fake_image_pages(fake, (1ull << 40) + 0x200000, 0x200000, IMAGE_PRESENT | IMAGE_HUGE);
	fake_image_put(fake, BASE + 0x3ffc, "abcdefgh", 8);
	fake_image_put_word(fake, BASE, 0x1234567890abcdef);
	fake_image_open(fake);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_image_free(fake);
	return 0;
}

static void test_find(void **state)
{
	struct image *image = fake->image;

	(void)state;
	assert_int_equal(image->mapping_count, 4);
	assert_string_equal(image_find(image, BASE)->name, "[heap]");
	assert_string_equal(image_find(image, BASE + 0x3fff)->name, "[heap]");
	assert_string_equal(image_find(image, BASE + 0x4000)->name, "/lib/x.so");
	assert_null(image_find(image, BASE - 1));
	assert_null(image_find(image, BASE + 0x8000));
	assert_null(image_find(image, UINT64_MAX));
	assert_true(image_holds(image, BASE, 0x4000));
	assert_false(image_holds(image, BASE, 0x4001));
	assert_false(image_holds(image, BASE + 0x3fff, UINT64_MAX));
	assert_false(image_holds(image, BASE + 0x8000, 0));
}

static void test_read(void **state)
{
	unsigned char bytes[0x9000];

	(void)state;
	/* Over the border of two mappings. */
	assert_true(image_read(fake->image, BASE + 0x3ffc, bytes, 8));
	assert_memory_equal(bytes, "abcdefgh", 8);
	assert_int_equal(image_word(fake->image, BASE), 0x1234567890abcdef);
	assert_int_equal(image_word(fake->image, BASE + 0x7ffc), 0);
	assert_int_equal(image_read_part(fake->image, BASE, bytes, sizeof(bytes)), 0x8000);
	assert_false(image_read(fake->image, BASE, bytes, sizeof(bytes)));
	assert_false(image_read(fake->image, UINT64_MAX - 4, bytes, 8));
	assert_int_equal(fake->image->usage.bytes, 8 + 8 + 0x8000 + 0x8000 + 4);
}

static void test_read_absent(void **state)
{
	unsigned char bytes[0x4000];

	(void)state;
	fake_image_swapped(fake, BASE + 0x1000, 0x1000);
	fake_image_absent(fake, BASE + 0x3000, 0x1000);
	fake_image_open(fake);
	assert_int_equal(image_read_part(fake->image, BASE, bytes, 0x4000), 0x1000);
	assert_int_equal(image_read_part(fake->image, BASE + 0x1000, bytes, 1), 0);
	assert_int_equal(image_read_part(fake->image, BASE + 0x2ff0, bytes, 0x20), 0x10);
	assert_int_equal(image_page(fake->image, BASE), IMAGE_PRESENT);
	assert_int_equal(image_page(fake->image, BASE + 0x1fff), IMAGE_SWAPPED);
	assert_int_equal(image_page(fake->image, BASE + 0x3000), 0);
	assert_int_equal(image_page(fake->image, BASE + 0x4000), IMAGE_PRESENT | IMAGE_FILE);
	assert_int_equal(image_page(fake->image, 0), 0);
	assert_int_equal(image_page(fake->image, UINT64_MAX), 0);
}

static bool mappings_cut(void *context, struct image *image)
{
	(void)context;
	image->pages_unknown = true;
	return true;
}

/* There are more mappings than the source lists. */
static void test_cut(void **state)
{
	static const struct image_source source = { .mappings = mappings_cut };
	struct image *image = image_new(&source, NULL, FAKE_PAGE);

	(void)state;
	assert_true(image_refresh(image));
	assert_true(image->pages_unknown);
	image_free(image);
}

static void test_device(void **state)
{
	unsigned char bytes[2];

	(void)state;
	fake_image_map(fake, BASE + 0x20000, 0x2000, "/dev/x", FAKE_FILE | FAKE_DEVICE);
	fake_image_map(fake, BASE + 0x30000, 0x1000, "/dev/y",
		       FAKE_FILE | FAKE_DEVICE | FAKE_SHARED);
	fake_image_map(fake, BASE + 0x40000, 0x1000, "[vvar]", FAKE_DEVICE);
	fake_image_pages(fake, BASE + 0x21000, 0x1000, IMAGE_PRESENT);
	fake_image_pages(fake, BASE + 0x30000, 0x1000, IMAGE_PRESENT);
	fake_image_open(fake);
	fake->reads = 0;
	assert_false(image_read(fake->image, BASE + 0x20000, bytes, 1));
	assert_false(image_read(fake->image, BASE + 0x30000, bytes, 1));
	assert_false(image_read(fake->image, BASE + 0x40000, bytes, 1));
	assert_false(image_read(fake->image, BASE + 0x20fff, bytes, 2));
	assert_int_equal(fake->reads, 0);
	/* The process's own page of a private mapping. */
	assert_true(image_read(fake->image, BASE + 0x21000, bytes, 2));
}

static void test_late(void **state)
{
	(void)state;
	fake->image->until_ns = 1;
	assert_int_equal(image_word(fake->image, BASE), 0);
	fake->image->until_ns = 0;
	assert_int_not_equal(image_word(fake->image, BASE), 0);
}

static bool is_over;

static bool check_is_over(void)
{
	return is_over;
}

/* Once for an hour, and then no more. */
static uint64_t extend_once(void *context)
{
	uint64_t *left_ns = context, more_ns = *left_ns;

	*left_ns = 0;
	return more_ns;
}

static void test_late_with_patience(void **state)
{
	uint64_t left_ns = clock_now_ns() + 3600000000000ull;
	const struct image_patience patience = { extend_once, check_is_over, &left_ns };

	(void)state;
	fake->image->until_ns = 1;
	fake->image->patience = &patience;
	assert_false(image_is_over(fake->image));
	assert_int_not_equal(image_word(fake->image, BASE), 0);
	is_over = true;
	assert_int_equal(image_word(fake->image, BASE), 0);
	is_over = false;
	fake->image->until_ns = 1;
	assert_true(image_is_over(fake->image));
	assert_int_equal(image_word(fake->image, BASE), 0);
	fake->image->until_ns = 0;
	fake->image->patience = NULL;
}

static void check_run(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	uint64_t found_start, found_end;

	assert_true(image_next_present(fake->image, from, to, &found_start, &found_end));
	assert_int_equal(found_start, start);
	assert_int_equal(found_end, end);
}

static void test_next_present(void **state)
{
	uint64_t start, end;
	struct image_run run;

	(void)state;
	fake_image_swapped(fake, BASE + 0x1000, 0x1000);
	fake_image_absent(fake, BASE + 0x3000, 0x1000);
	fake_image_open(fake);
	check_run(0, UINT64_MAX, BASE, BASE + 0x1000);
	check_run(BASE + 5, BASE + 9, BASE + 5, BASE + 9);
	check_run(BASE + 0x1000, UINT64_MAX, BASE + 0x2000, BASE + 0x3000);
	check_run(BASE + 0x2800, BASE + 0x7000, BASE + 0x2800, BASE + 0x3000);
	check_run(BASE + 0x11000, UINT64_MAX, (1ull << 40) + 0x200000, (1ull << 40) + 0x400000);
	assert_false(image_next_present(fake->image, BASE + 0x1000, BASE + 0x2000, &start, &end));
	assert_false(image_next_present(fake->image, BASE, BASE, &start, &end));
	assert_false(image_next_present(fake->image, 2ull << 40, UINT64_MAX, &start, &end));
	assert_true(image_next_run(fake->image, BASE + 0x1800, UINT64_MAX, &run));
	assert_int_equal(run.start, BASE + 0x1800);
	assert_int_equal(run.end, BASE + 0x2000);
	assert_int_equal(run.bits, IMAGE_SWAPPED);
	/* Pages of different bits that are all present are one run of present ones. */
	fake_image_pages(fake, BASE + 0x3000, 0x1000, IMAGE_PRESENT | IMAGE_HUGE);
	fake_image_open(fake);
	check_run(BASE + 0x2000, UINT64_MAX, BASE + 0x2000, BASE + 0x8000);
}

static void test_refresh(void **state)
{
	(void)state;
	fake_image_map(fake, BASE - 0x1000, 0x1000, "new", 0);
	fake_image_map(fake, BASE - 0x800, 0x1000, "no pages", 0);
	assert_true(image_refresh(fake->image));
	assert_int_equal(fake->image->mapping_count, 5);
	assert_string_equal(image_find(fake->image, BASE - 1)->name, "new");
	fake->dies = true;
	assert_false(image_refresh(fake->image));
	assert_int_equal(fake->image->mapping_count, 5);
	assert_int_equal(image_word(fake->image, BASE), 0);
}

/* Lists that are cut are better than none, and worse than whole ones from before. */
static void test_refresh_cut(void **state)
{
	size_t runs = fake->image->run_count;

	(void)state;
	fake_image_map(fake, BASE - 0x1000, 0x1000, "new", 0);
	fake->unlisted = BASE + 0x1000;
	assert_false(image_refresh(fake->image));
	assert_false(fake->image->pages_unknown);
	assert_int_equal(fake->image->run_count, runs);
	assert_int_equal(image_page(fake->image, BASE), IMAGE_PRESENT);
	assert_null(image_find(fake->image, BASE - 1));
	fake->unlisted = 0;
	assert_true(image_refresh(fake->image));
	assert_int_equal(image_page(fake->image, BASE - 1), IMAGE_PRESENT);
}

/* A live process is not called an ended one where there was no time to list its pages. */
static void test_refresh_whole(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(image_refresh_whole(fake->image, &error), 0);
	fake->unlisted = BASE + 0x1000;
	assert_int_equal(image_refresh_whole(fake->image, &error), -ETIMEDOUT);
	assert_int_equal(error.kind, ERROR_PERMISSION);
	assert_non_null(strstr(error.text, "--deadline"));
	assert_false(fake->image->pages_unknown);
	fake->unlisted = 0;
	assert_int_equal(image_refresh_whole(fake->image, &error), 0);
	error = (struct error){ 0 };
	fake->dies = true;
	assert_int_equal(image_refresh_whole(fake->image, &error), -ESRCH);
	assert_int_equal(error.kind, ERROR_TARGET);
}

static void test_open_cut(void **state)
{
	struct fake_image *late = fake_image_new();

	(void)state;
	fake_image_map(late, BASE, 0x1000, "listed", 0);
	fake_image_map(late, BASE + 0x1000, 0x1000, "not listed", 0);
	late->unlisted = BASE + 0x1000;
	assert_true(image_refresh(late->image));
	assert_true(late->image->pages_unknown);
	assert_int_equal(image_page(late->image, BASE), IMAGE_PRESENT);
	/* The same again, with time: what is new is seen. */
	fake_image_absent(late, BASE, 0x1000);
	assert_true(image_refresh(late->image));
	assert_int_equal(image_page(late->image, BASE), 0);
	fake_image_free(late);
}

static void test_window(void **state)
{
	struct window window;
	const unsigned char *bytes;
	size_t got;

	(void)state;
	window_open(&window, fake->image, 0x1000);
	fake->reads = 0;
	bytes = window_get(&window, BASE, 8);
	assert_memory_equal(bytes, "\xef\xcd\xab\x90\x78\x56\x34\x12", 8);
	assert_non_null(window_get(&window, BASE + 0xff8, 8));
	assert_int_equal(fake->reads, 1);
	assert_memory_equal(window_get(&window, BASE + 0x3ffc, 8), "abcdefgh", 8);
	assert_null(window_get(&window, BASE, 0x1001));
	assert_null(window_get(&window, BASE + 0x7ff9, 8));
	bytes = window_get_part(&window, BASE + 0x7ff9, 8, &got);
	assert_non_null(bytes);
	assert_int_equal(got, 7);
	assert_null(window_get_part(&window, BASE + 0x9000, 8, &got));
	assert_int_equal(got, 0);
	/* What changes is seen once the window is dropped. */
	assert_non_null(window_get(&window, BASE, 8));
	fake_image_put_word(fake, BASE, 1);
	assert_int_equal(*window_get(&window, BASE, 8), 0xef);
	window_drop(&window);
	assert_int_equal(*window_get(&window, BASE, 8), 1);
	window_close(&window);
}

/* A child that waits: what the test has mapped, the child has. */
struct child {
	unsigned char *memory;
	pid_t pid;
	struct image *image;
};

#define PAGES 1000

static size_t page;

static int start_child(void **state)
{
	static struct child child;
	size_t i;

	page = (size_t)sysconf(_SC_PAGESIZE);
	child.memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	assert_ptr_not_equal(child.memory, MAP_FAILED);
	madvise(child.memory, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		if (i % 3)
			child.memory[i * page] = (unsigned char)i;
	child.pid = fork();
	if (!child.pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(image_open(child.pid, 0, &child.image, NULL), 0);
	*state = &child;
	return 0;
}

static int end_child(void **state)
{
	struct child *child = *state;

	image_free(child->image);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	munmap(child->memory, PAGES * page);
	return 0;
}

static void test_live(void **state)
{
	struct child *child = *state;
	uint64_t base = (uintptr_t)child->memory;
	unsigned char bytes[2];
	size_t i;

	assert_true(image_holds(child->image, base, PAGES * page));
	for (i = 0; i < PAGES; i++) {
		assert_int_equal(image_page(child->image, base + i * page) & IMAGE_PRESENT,
				 i % 3 ? IMAGE_PRESENT : 0);
		assert_int_equal(image_read(child->image, base + i * page, bytes, 1), i % 3 != 0);
		if (i % 3)
			assert_int_equal(bytes[0], (unsigned char)i);
	}
	/* None was brought in by that. */
	assert_true(image_refresh(child->image));
	for (i = 0; i < PAGES; i += 3)
		assert_int_equal(image_page(child->image, base + i * page), 0);
	assert_int_equal(image_read_part(child->image, base + 3 * page - 1, bytes, 2), 1);
}

/* A look that has to end in time does. */
static void test_live_late(void **state)
{
	struct child *child = *state;
	uint64_t base = (uintptr_t)child->memory;
	size_t runs = child->image->run_count, i;
	struct image *late;

	assert_int_equal(image_open(child->pid, 1, &late, NULL), 0);
	assert_true(late->pages_unknown);
	assert_int_equal(late->run_count, 0);
	late->until_ns = 0;
	assert_true(image_refresh(late));
	assert_false(late->pages_unknown);
	for (i = 0; i < PAGES; i++)
		assert_int_equal(image_page(late, base + i * page) & IMAGE_PRESENT,
				 i % 3 ? IMAGE_PRESENT : 0);
	image_free(late);
	/* What was listed in time stays. */
	child->image->until_ns = 1;
	assert_false(image_refresh(child->image));
	assert_false(child->image->pages_unknown);
	assert_int_equal(child->image->run_count, runs);
}

/* The kernel's own pages, and devices, are not read. */
static void test_live_device(void **state)
{
	struct child *child = *state;
	size_t i, devices = 0;
	char byte;

	for (i = 0; i < child->image->mapping_count; i++) {
		const struct image_mapping *mapping = &child->image->mappings[i];

		if (strncmp(mapping->name, "[v", 2) != 0 || !strcmp(mapping->name, "[vdso]")) {
			assert_false(mapping->device_memory);
			continue;
		}
		devices++;
		assert_true(mapping->device_memory);
		assert_false(image_read(child->image, mapping->start, &byte, 1));
	}
	assert_in_range(devices, 1, 4);
}

static void test_live_ends(void **state)
{
	struct child *child = *state;
	struct error error = { 0 };
	struct image *image;
	char byte;

	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	assert_false(image_refresh(child->image));
	assert_false(image_read(child->image, (uintptr_t)child->memory + page, &byte, 1));
	assert_int_equal(image_open(child->pid, 0, &image, &error), -ESRCH);
	assert_int_equal(error.kind, ERROR_TARGET);
}

/* Pages of a file that the child has never touched are read from it; of one that it has written, its own. */
static void test_live_file(void **state)
{
	char path[] = "test_image.XXXXXX", expected[4096], bytes[4096];
	size_t size = 4 * (size_t)sysconf(_SC_PAGESIZE), i;
	struct image *image;
	char *memory;
	pid_t pid;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	for (i = 0; i < size; i += sizeof(expected)) {
		memset(expected, (int)(i / sizeof(expected) + 1), sizeof(expected));
		assert_int_equal(write(fd, expected, sizeof(expected)), sizeof(expected));
	}
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	*memory = 'x';
	mprotect(memory, size, PROT_READ);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(image_open(pid, 0, &image, NULL), 0);
	assert_true(image_read(image, (uintptr_t)memory, bytes, 2));
	assert_memory_equal(bytes, "x\1", 2);
	assert_int_equal(image_page(image, (uintptr_t)memory + size / 2), 0);
	assert_true(image_read(image, (uintptr_t)memory + size / 2, bytes, 2));
	assert_memory_equal(bytes, memory + size / 2, 2);
	image_free(image);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(memory, size);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define LIVE(name) cmocka_unit_test_setup_teardown(name, start_child, end_child)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_find),
		TEST(test_read),
		TEST(test_read_absent),
		TEST(test_device),
		TEST(test_cut),
		TEST(test_late),
		TEST(test_late_with_patience),
		TEST(test_next_present),
		TEST(test_refresh),
		TEST(test_refresh_cut),
		TEST(test_refresh_whole),
		cmocka_unit_test(test_open_cut),
		TEST(test_window),
		LIVE(test_live),
		LIVE(test_live_device),
		LIVE(test_live_ends),
		LIVE(test_live_late),
		cmocka_unit_test(test_live_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
