/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Images in files: what is written is read again; damaged files are refused. Truth: the image that was recorded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/image_record.h"
#include "image/image_record_private.h"
#include "unit/fake_image.h"

#define BASE 0x100000ull
#define MOST (64u << 20)

static struct fake_image *fake;
static struct image *loaded;
static int fd;

static int set_up(void **state)
{
	uint64_t i;

	(void)state;
	fake = fake_image_new();
	fake_image_map(fake, BASE, 0x4000, "[heap]", FAKE_WRITABLE);
	fake_image_map(fake, BASE + 0x4000, 0x4000, "/lib/x.so", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(fake, BASE + 0x10000, 0x300000, "", FAKE_WRITABLE | FAKE_SHARED);
	fake_image_map(fake, BASE + 0x400000, 0x1000, "/dev/x", FAKE_FILE | FAKE_DEVICE);
	fake_image_swapped(fake, BASE + 0x1000, 0x1000);
	fake_image_absent(fake, BASE + 0x3000, 0x1000);
	for (i = 0; i < 0x300000; i += 0x777)
		fake_image_put_word(fake, BASE + 0x10000 + i, i);
	fake_image_put(fake, BASE + 0x2ff0, "end of a page   ", 16);
	fake->image->own_pid = 4711;
	fd = memfd_create("test_image_record", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(image_record(fake_image_open(fake), fd, NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	image_free(loaded);
	loaded = NULL;
	fake_image_free(fake);
	close(fd);
	return 0;
}

static void check_mappings(const struct image *image)
{
	size_t i;

	assert_int_equal(loaded->mapping_count, image->mapping_count);
	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *left = &image->mappings[i];
		const struct image_mapping *right = &loaded->mappings[i];

		assert_int_equal(left->start, right->start);
		assert_int_equal(left->end, right->end);
		assert_int_equal(left->inode, right->inode);
		assert_int_equal(left->device, right->device);
		assert_int_equal(left->writable, right->writable);
		assert_int_equal(left->executable, right->executable);
		assert_int_equal(left->shared, right->shared);
		assert_int_equal(left->device_memory, right->device_memory);
		assert_int_equal(left->unchanged, right->unchanged);
		assert_string_equal(left->name, right->name);
	}
}

static void check_memory(struct image *image)
{
	unsigned char left[4096], right[4096];
	uint64_t at;
	size_t i;

	for (i = 0; i < image->mapping_count; i++)
		for (at = image->mappings[i].start; at < image->mappings[i].end; at += 4096) {
			size_t size = image_read_part(image, at, left, 4096);

			assert_int_equal(image_page(image, at), image_page(loaded, at));
			assert_int_equal(image_read_part(loaded, at, right, 4096), size);
			assert_memory_equal(left, right, size);
		}
}

static void test_same(void **state)
{
	(void)state;
	assert_int_equal(image_load(fd, MOST, &loaded, NULL), 0);
	assert_int_equal(loaded->own_pid, 4711);
	assert_int_equal(loaded->pid, 0);
	check_mappings(fake->image);
	check_memory(fake->image);
	assert_true(image_refresh(loaded));
	check_memory(fake->image);
	/* Over pieces. */
	assert_int_equal(image_word(loaded, BASE + 0x10000 + (0x777 * 0x230ull)), 0x777 * 0x230);
}

static void test_too_large(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(image_load(fd, 0x100000, &loaded, &error), -EFBIG);
	assert_int_equal(error.kind, ERROR_USAGE);
	loaded = NULL;
}

/* Not compressed, with these mappings and pieces. */
static int load_raw(const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return image_load(fd, MOST, &loaded, NULL);
}

struct raw {
	struct record_head head;
	struct record_mapping mapping;
	char name[8];
	struct record_run run;
	struct record_piece pieces[2];
	unsigned char bytes[16];
	struct record_piece last;
};

static const struct raw raw = {
	.head = { RECORD_MAGIC, 4096, 1, 1, 1 },
	.mapping = { BASE, BASE + 0x1000, 0, 0, 0, RECORD_READABLE, 8 },
	.name = "[heap]",
	.run = { BASE, BASE + 0x1000, IMAGE_PRESENT },
	.pieces = { { BASE, sizeof(struct record_piece) }, { 0, 0 } },
	.last = { 0, 0 },
};

static void test_raw(void **state)
{
	(void)state;
	/* What would be the second piece is what the first one has; zeroes behind it end the list. */
	assert_int_equal(load_raw(&raw, sizeof(raw)), 0);
	assert_int_equal(loaded->mapping_count, 1);
	assert_int_equal(image_word(loaded, BASE), 0);
}

static void test_damaged(void **state)
{
	struct raw damaged;
	size_t i;

	(void)state;
	assert_int_equal(load_raw("", 0), -EINVAL);
	for (i = 1; i < sizeof(raw) - sizeof(raw.last); i++)
		assert_int_equal(load_raw(&raw, i), -EINVAL);
	damaged = raw;
	damaged.head.mapping_count = UINT64_MAX;
	assert_int_equal(load_raw(&damaged, sizeof(damaged)), -EINVAL);
	damaged = raw;
	damaged.pieces[0].size = UINT64_MAX;
	assert_int_equal(load_raw(&damaged, sizeof(damaged)), -EINVAL);
	damaged = raw;
	damaged.head.page_size = 5000;
	assert_int_equal(load_raw(&damaged, sizeof(damaged)), -EINVAL);
	damaged = raw;
	damaged.run.end = damaged.run.start;
	assert_int_equal(load_raw(&damaged, sizeof(damaged)), -EINVAL);
	loaded = NULL;
}

/* What can be read of a file where its pages are not in memory. */
static void check_files(struct image *image)
{
	static unsigned char left[0x10000], right[0x10000];
	size_t i, size, absent = 0;
	uint64_t at;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->inode || mapping->writable || mapping->shared)
			continue;
		for (at = mapping->start; at < mapping->end; at += sizeof(left)) {
			size = image_read_part(image, at, left, sizeof(left));
			assert_int_equal(image_read_part(loaded, at, right, sizeof(right)), size);
			assert_memory_equal(left, right, size);
			absent += size && !(image_page(loaded, at) & IMAGE_PRESENT);
		}
	}
	assert_true(absent > 0);
}

/* A live one. */
static void test_live(void **state)
{
	struct image *image;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(image_open(pid, 0, &image, NULL), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(image_record(image, fd, NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(image_load(fd, 1u << 30, &loaded, NULL), 0);
	check_mappings(image);
	assert_int_equal(loaded->own_pid, pid);
	assert_int_equal(image_word(loaded, (uintptr_t)&fake), (uintptr_t)fake);
	check_files(image);
	image_free(image);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same),    TEST(test_too_large), TEST(test_raw),
		TEST(test_damaged), TEST(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
