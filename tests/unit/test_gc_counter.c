/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where interpreters count their major collections. Truth: heaps laid out by hand as those of the releases are; the live tests have
 * the interpreters themselves.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "interp/gc_counter.h"
#include "interp/interp_ops.h"
#include "interp/ruby_layout.h"

/* Memory from BASE on; what is beyond it is not there. */
#define BASE 0x7f0000400000ull
#define SIZE (1u << 20)

#define GLOBALS (BASE + 0x100)
#define SPACE (BASE + 0x1000)
#define LIST (BASE + 0x3000)
#define DESCRIPTIONS (BASE + 0x4000)
#define PAGES (BASE + 0x10000)
#define PAGE_COUNT 7

static unsigned char bytes[SIZE];
static size_t reads;

static bool read_bytes(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	reads++;
	if (address < BASE || address > BASE + SIZE - size)
		return false;
	memcpy(to, bytes + (address - BASE), size);
	return true;
}

static bool read_waiting(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	(void)address;
	(void)to;
	fail_msg("%zu bytes are read that may not be present", size);
	return false;
}

static const struct target_memory memory = { .read = read_waiting, .read_present = read_bytes };

static int set_up(void **state)
{
	(void)state;
	memset(bytes, 0, SIZE);
	reads = 0;
	return 0;
}

static void put_word(uint64_t address, uint64_t word)
{
	memcpy(bytes + (address - BASE), &word, sizeof(word));
}

/* Where releases of Ruby have what leads to the counter. */
static const struct ruby {
	const char *version;
	uint64_t page_size, start, pool, pools, pool_size, pages, count;
	uint64_t page_count; /* 0 = in the list */
	uint64_t mode;
} rubies[] = {
	{ "3.1.2", 0x4000, 32, 16, 40, 160, 256, 392, 264, 16 },
	{ "3.3.8", 0x10000, 32, 16, 32, 224, 1208, 1344, 1216, 16 },
	{ "3.4.1", 0x10000, 40, 16, 40, 144, 832, 960, 0, 20 },
};

static uint64_t page_of(const struct ruby *ruby, uint64_t index)
{
	return PAGES + index * ruby->page_size;
}

/* Pages of five pools in turn; the global object is in the page `index`. */
static struct interpreter put_ruby(const struct ruby *ruby, uint64_t index)
{
	uint64_t entries = LIST + (ruby->page_count ? 0 : 16), i;

	set_up(NULL);
	for (i = 0; i < PAGE_COUNT; i++) {
		uint64_t description = DESCRIPTIONS + i * 0x100;

		put_word(page_of(ruby, i), description);
		put_word(description + ruby->start, page_of(ruby, i) + 16);
		put_word(description + ruby->pool, SPACE + ruby->pools + i % 5 * ruby->pool_size);
		put_word(entries + 8 * i, description);
	}
	put_word(SPACE + ruby->pages, LIST);
	put_word(ruby->page_count ? SPACE + ruby->page_count : LIST, PAGE_COUNT);
	put_word(SPACE + ruby->count, 41);
	put_word(GLOBALS, page_of(ruby, index) + 16 + 40);
	return (struct interpreter){ .kind = INTERP_RUBY,
				     .ruby = ruby_layout_find(ruby->version),
				     .globals = GLOBALS };
}

static bool find(const struct interpreter *interpreter, struct gc_counter *counter)
{
	bool found = gc_counter_find(interpreter, &memory, counter);

	assert_true(!found || gc_counter_is_known(interpreter));
	assert_in_range(reads, 0, 500);
	reads = 0;
	return found;
}

static void check_read(const struct gc_counter *counter, uint64_t count, bool is_running)
{
	uint64_t seen_count;
	bool seen_running;

	assert_true(gc_counter_read(counter, &memory, &seen_count, &seen_running));
	assert_int_equal(seen_count, count);
	assert_int_equal(seen_running, is_running);
}

static void test_ruby(void **state)
{
	struct interpreter interpreter;
	struct gc_counter counter;
	size_t i, page;

	(void)state;
	for (i = 0; i < sizeof(rubies) / sizeof(rubies[0]); i++) {
		const struct ruby *ruby = &rubies[i];

		for (page = 0; page < PAGE_COUNT; page++) {
			interpreter = put_ruby(ruby, page);
			assert_true(find(&interpreter, &counter));
			assert_int_equal(counter.count, SPACE + ruby->count);
			check_read(&counter, 41, false);
			/* Marking; then flags beside the mode. */
			bytes[SPACE + ruby->mode - BASE] = 1;
			check_read(&counter, 41, true);
			bytes[SPACE + ruby->mode - BASE] = 0xf4;
			check_read(&counter, 41, false);
		}
		/* A page that is not in the list; a list that is gone, or longer than memory. */
		put_word(LIST + (ruby->page_count ? 0 : 16) + 8 * 6, DESCRIPTIONS);
		assert_false(find(&interpreter, &counter));
		interpreter = put_ruby(ruby, 2);
		put_word(SPACE + ruby->pages, BASE + SIZE);
		assert_false(find(&interpreter, &counter));
		interpreter = put_ruby(ruby, 2);
		put_word(ruby->page_count ? SPACE + ruby->page_count : LIST, UINT64_MAX);
		assert_false(find(&interpreter, &counter));
	}
}

/* Then nothing of the process is read. */
static void check_unknown(const struct interpreter *interpreter)
{
	struct gc_counter counter;

	assert_false(gc_counter_is_known(interpreter));
	assert_false(gc_counter_find(interpreter, &memory, &counter));
	assert_int_equal(reads, 0);
}

static void test_unknown(void **state)
{
	struct interpreter interpreter = put_ruby(&rubies[0], 0);
	struct gc_counter counter;

	(void)state;
	put_word(GLOBALS, 0);
	assert_true(gc_counter_is_known(&interpreter));
	assert_false(find(&interpreter, &counter));
	interpreter.ruby = ruby_layout_find("3.2.0");
	check_unknown(&interpreter);
	interpreter = put_ruby(&rubies[0], 0);
	interpreter.globals = 0;
	check_unknown(&interpreter);
	interpreter = put_ruby(&rubies[0], 0);
	interpreter.kind = INTERP_PHP;
	check_unknown(&interpreter);
	interpreter.kind = INTERP_PYTHON;
	interpreter.python.minor = 14;
	check_unknown(&interpreter);
}

/* Releases of CPython: where the runtime has the interpreter, and that its lists. */
static const struct python {
	unsigned int minor;
	uint64_t interpreter, heads;
} pythons[] = { { 9, 32, 640 },	   { 10, 32, 640 },   { 11, 40, 672 },	{ 12, 40, 136 },
		{ 13, 632, 7424 }, { 13, 632, 7420 }, { 13, 632, 7432 } };

/* Lists of objects, of which the first is empty and the last has two. */
static struct interpreter put_python(const struct python *python)
{
	uint64_t heads = SPACE + python->heads, i;

	set_up(NULL);
	put_word(GLOBALS + 40, python->interpreter);
	put_word(GLOBALS + python->interpreter, SPACE);
	for (i = 0; i < 2; i++) {
		put_word(heads + 24 * i, heads + 24 * i);
		put_word(heads + 24 * i + 8, heads + 24 * i);
	}
	put_word(heads + 48, PAGES);
	put_word(PAGES + 8, heads + 48 + 1);
	put_word(PAGES, PAGES + 64);
	put_word(PAGES + 64 + 8, PAGES + 2);
	put_word(PAGES + 64, heads + 48);
	put_word(heads + 56, PAGES + 64);
	put_word(heads + 104 + 48, 77);
	return (struct interpreter){ .kind = INTERP_PYTHON,
				     .python = { .minor = python->minor },
				     .globals = GLOBALS };
}

static void test_python(void **state)
{
	struct interpreter interpreter;
	struct gc_counter counter;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pythons) / sizeof(pythons[0]); i++) {
		interpreter = put_python(&pythons[i]);
		assert_true(find(&interpreter, &counter));
		assert_int_equal(counter.count, SPACE + pythons[i].heads + 104 + 48);
		check_read(&counter, 77, false);
		/* The lists lead elsewhere. */
		put_word(PAGES + 8, PAGES);
		assert_false(find(&interpreter, &counter));
	}
}

/* What is not present is not waited for. */
static void test_absent(void **state)
{
	const struct gc_counter counter = { BASE + SIZE - 4, 0 }, other = { BASE, BASE + SIZE };
	uint64_t count;
	bool is_running;

	(void)state;
	assert_false(gc_counter_read(&counter, &memory, &count, &is_running));
	assert_false(gc_counter_read(&other, &memory, &count, &is_running));
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_ruby), TEST(test_unknown), TEST(test_python),
					    TEST(test_absent) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
