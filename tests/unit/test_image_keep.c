/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of memory that is made as it is read. Truth: what the test puts there, and the image's own count of what was read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "image/image_keep.h"
#include "unit/fake_image.h"

#define HEAP 0x700000ull /* in the middle of a piece, and of several */
#define HEAP_SIZE 0x90000ull
#define CONSTANTS 0x800000ull
#define ROOM (16ull << 20)

static struct fake_image *fake;
static struct image *image;

static int set_up(void **state)
{
	uint64_t at;

	(void)state;
	fake = fake_image_new();
	fake_image_map(fake, HEAP, HEAP_SIZE, "[heap]", FAKE_WRITABLE);
	fake_image_map(fake, CONSTANTS, 0x2000, "/usr/bin/prog", FAKE_FILE);
	for (at = 0; at < HEAP_SIZE; at += 8)
		fake_image_put_word(fake, HEAP + at, at ^ 0x5555);
	image = fake_image_open(fake);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_image_free(fake);
	return 0;
}

static void assert_heap(uint64_t start, uint64_t end)
{
	static uint64_t words[HEAP_SIZE / 8];
	uint64_t at;

	assert_true(image_read(image, HEAP + start, words, end - start));
	for (at = start; at < end; at += 8)
		assert_int_equal(words[(at - start) / 8], at ^ 0x5555);
}

/* However often and in whatever pieces: each byte is read once. */
static void test_once(void **state)
{
	uint64_t at;
	int i;

	(void)state;
	image_keep_begin(image, ROOM);
	for (i = 0; i < 5; i++) {
		assert_heap(0, HEAP_SIZE);
		for (at = 0; at + 0x5000 < HEAP_SIZE; at += 0x3338)
			assert_heap(at, at + 0x5000);
	}
	assert_int_equal(image->usage.bytes, HEAP_SIZE);
	image_keep_end(image);
	assert_heap(0, HEAP_SIZE);
	assert_int_equal(image->usage.bytes, 2 * HEAP_SIZE);
}

/* What has changed is seen past the copy, and when that is forgotten. */
static void test_changes(void **state)
{
	(void)state;
	image_keep_begin(image, ROOM);
	assert_int_equal(image_word(image, HEAP), 0x5555);
	fake_image_put_word(fake, HEAP, 1);
	assert_int_equal(image_word(image, HEAP), 0x5555);
	image_keep_pass_by(image, true);
	assert_int_equal(image_word(image, HEAP), 1);
	image_keep_pass_by(image, false);
	assert_int_equal(image_word(image, HEAP), 0x5555);
	image_keep_forget(image);
	assert_int_equal(image_word(image, HEAP), 1);
	fake_image_put_word(fake, HEAP, 2);
	assert_true(image_refresh(image));
	assert_int_equal(image_word(image, HEAP), 2);
}

/* A page that is not there is no zeroes, and is read when it has come. What cannot be written is not copied. */
static void test_absent(void **state)
{
	unsigned char bytes[0x3000];
	uint64_t before;

	(void)state;
	fake_image_absent(fake, HEAP + 0x2000, 0x1000);
	assert_true(image_refresh(image));
	image_keep_begin(image, ROOM);
	assert_int_equal(image_read_part(image, HEAP + 0x1000, bytes, sizeof(bytes)), 0x1000);
	assert_false(image_read(image, HEAP + 0x2000, bytes, 8));
	assert_heap(0x3000, HEAP_SIZE);
	fake_image_pages(fake, HEAP + 0x2000, 0x1000, IMAGE_PRESENT);
	assert_heap(0x1000, 0x4000);
	before = image->usage.bytes;
	assert_true(image_read(image, CONSTANTS, bytes, 0x1000));
	assert_true(image_read(image, CONSTANTS, bytes, 0x1000));
	assert_int_equal(image->usage.bytes - before, 0x2000);
}

/* Without room all is read as without a copy: by the caller's limit, and by that of the program. */
static void test_room(void **state)
{
	struct rlimit before, limit;
	size_t size;

	(void)state;
	image_keep_begin(image, 0);
	assert_heap(0, HEAP_SIZE);
	assert_heap(0, HEAP_SIZE);
	assert_int_equal(image->usage.bytes, 2 * HEAP_SIZE);
	assert_null(image_keep_view(image, HEAP, 8, &size));
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limit = before;
	limit.rlim_cur = 4ull << 20;
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	image_keep_begin(image, ROOM);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_heap(0, HEAP_SIZE);
	assert_heap(0, HEAP_SIZE);
	assert_int_equal(image->usage.bytes, 4 * HEAP_SIZE);
}

/* A piece of the copy itself ends where something is missing. */
static void test_view(void **state)
{
	const unsigned char *bytes;
	uint64_t word;
	size_t size;

	(void)state;
	assert_null(image_keep_view(image, HEAP, 8, &size));
	fake_image_absent(fake, HEAP + 0x2000, 0x1000);
	assert_true(image_refresh(image));
	image_keep_begin(image, ROOM);
	bytes = image_keep_view(image, HEAP + 0x1008, HEAP_SIZE, &size);
	assert_non_null(bytes);
	assert_int_equal(size, 0xff8);
	memcpy(&word, bytes, sizeof(word));
	assert_int_equal(word, 0x1008 ^ 0x5555);
	assert_non_null(image_keep_view(image, HEAP, 16, &size));
	assert_int_equal(size, 16);
	assert_null(image_keep_view(image, HEAP + 0x2000, 8, &size));
	assert_null(image_keep_view(image, HEAP + HEAP_SIZE, 8, &size));
	assert_null(image_keep_view(image, CONSTANTS, 8, &size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_view, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
