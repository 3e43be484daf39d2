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

#include "frames/gc_search.h"
#include "interp/frames_ops.h"
#include "python/python_layout.h"
#include "ruby/ruby_release.h"
#include "unit/fake_memory.h"

#define GLOBALS (FAKE_BASE + 0x100)
#define SPACE (FAKE_BASE + 0x1000)
#define VM (FAKE_BASE + 0x2000)
#define LIST (FAKE_BASE + 0x3000)
#define DESCRIPTIONS (FAKE_BASE + 0x4000)
#define PAGES (FAKE_BASE + 0x10000)
#define PAGE_COUNT 7

/* Where releases of Ruby have what leads to the counter. */
static const struct ruby {
	const char *version;
	uint64_t page_size, start, pool, pools, pool_size, pages, count;
	uint64_t page_count; /* 0 = in the list */
	uint64_t mode;
} rubies[] = {
	{ "2.7.4", 0x4000, 24, 0, 0, 0, 248, 384, 256, 16 },
	{ "3.0.2", 0x4000, 24, 0, 0, 0, 240, 376, 248, 16 },
	{ "3.1.2", 0x4000, 32, 16, 40, 160, 256, 392, 264, 16 },
	{ "3.2.3", 0x10000, 32, 16, 40, 200, 1096, 1232, 1104, 16 },
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
	struct interpreter interpreter;

	fake_clear(NULL);
	for (i = 0; i < PAGE_COUNT; i++) {
		uint64_t description = DESCRIPTIONS + i * 0x100;

		put_word(page_of(ruby, i), description);
		put_word(description + ruby->start, page_of(ruby, i) + 16);
		if (ruby->pool)
			put_word(description + ruby->pool,
				 SPACE + ruby->pools + i % 5 * ruby->pool_size);
		put_word(entries + 8 * i, description);
	}
	put_word(SPACE + ruby->pages, LIST);
	put_word(ruby->page_count ? SPACE + ruby->page_count : LIST, PAGE_COUNT);
	put_word(SPACE + ruby->count, 41);
	/* Without pools the virtual machine leads there. */
	put_word(GLOBALS, ruby->pool ? page_of(ruby, index) + 16 + 40 : VM);
	put_word(VM + 1088 + index * 8, SPACE);
	interpreter = (struct interpreter){ .kind = INTERP_RUBY, .globals = GLOBALS };
	ruby_release_keep(&interpreter, ruby_release_find(ruby->version));
	return interpreter;
}

static bool find(const struct interpreter *interpreter, struct gc_counter *counter)
{
	bool found = gc_search_find(interpreter, &fake_present, counter);

	assert_true(!found || gc_search_is_known(interpreter));
	assert_in_range(fake_reads, 0, 500);
	fake_reads = 0;
	return found;
}

static void check_read(const struct gc_counter *counter, uint64_t count, bool is_running)
{
	uint64_t seen_count;
	bool seen_running;

	assert_true(gc_counter_read(counter, &fake_present, &seen_count, &seen_running));
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
			fake_bytes[SPACE + ruby->mode - FAKE_BASE] = 1;
			check_read(&counter, 41, true);
			fake_bytes[SPACE + ruby->mode - FAKE_BASE] = 0xf4;
			check_read(&counter, 41, false);
		}
		/* A page that is not in the list; a list that is gone, or longer than memory. */
		put_word(LIST + (ruby->page_count ? 0 : 16) + 8 * 6, DESCRIPTIONS);
		assert_int_equal(find(&interpreter, &counter), !ruby->pool);
		put_word(page_of(ruby, 0), DESCRIPTIONS + 8);
		assert_false(find(&interpreter, &counter));
		interpreter = put_ruby(ruby, 2);
		put_word(SPACE + ruby->pages, FAKE_BASE + FAKE_SIZE);
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

	assert_false(gc_search_is_known(interpreter));
	assert_false(gc_search_find(interpreter, &fake_present, &counter));
	assert_int_equal(fake_reads, 0);
}

static void test_unknown(void **state)
{
	struct interpreter interpreter = put_ruby(&rubies[0], 0);
	struct gc_counter counter;

	(void)state;
	put_word(GLOBALS, 0);
	assert_true(gc_search_is_known(&interpreter));
	assert_false(find(&interpreter, &counter));
	ruby_release_keep(&interpreter, ruby_release_find("4.0.0"));
	check_unknown(&interpreter);
	interpreter = put_ruby(&rubies[0], 0);
	interpreter.globals = 0;
	check_unknown(&interpreter);
	interpreter = put_ruby(&rubies[0], 0);
	interpreter.kind = INTERP_PHP;
	check_unknown(&interpreter);
	interpreter.kind = INTERP_PYTHON;
	python_layout_keep(&interpreter, &(struct python_layout){ .minor = 14 });
	check_unknown(&interpreter);
}

/* Releases of CPython: where the runtime has the interpreter, and that its lists. */
static const struct python {
	unsigned int minor;
	uint64_t interpreter, heads; /* 0 = the runtime has the lists itself */
} pythons[] = { { 8, 0, 368 },	 { 9, 32, 640 },    { 10, 32, 640 },   { 11, 40, 672 },
		{ 12, 40, 136 }, { 13, 632, 7424 }, { 13, 632, 7420 }, { 13, 632, 7432 } };

static uint64_t lists_owner(const struct python *python)
{
	return python->interpreter ? SPACE : GLOBALS;
}

/* Lists of objects, of which the first is empty and the last has two. */
static struct interpreter put_python(const struct python *python)
{
	uint64_t heads = lists_owner(python) + python->heads, i;
	struct interpreter interpreter;

	fake_clear(NULL);
	if (python->interpreter) {
		put_word(GLOBALS + 40, python->interpreter);
		put_word(GLOBALS + python->interpreter, SPACE);
	}
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
	interpreter = (struct interpreter){ .kind = INTERP_PYTHON, .globals = GLOBALS };
	python_layout_keep(&interpreter, &(struct python_layout){ .minor = python->minor });
	return interpreter;
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
		assert_int_equal(counter.count,
				 lists_owner(&pythons[i]) + pythons[i].heads + 104 + 48);
		check_read(&counter, 77, false);
		/* The lists lead elsewhere. */
		put_word(PAGES + 8, PAGES);
		assert_false(find(&interpreter, &counter));
	}
}

/* What is not present is not waited for. */
static void test_absent(void **state)
{
	const struct gc_counter counter = { FAKE_BASE + FAKE_SIZE - 4, 0 },
				other = { FAKE_BASE, FAKE_BASE + FAKE_SIZE };
	uint64_t count;
	bool is_running;

	(void)state;
	assert_false(gc_counter_read(&counter, &fake_present, &count, &is_running));
	assert_false(gc_counter_read(&other, &fake_present, &count, &is_running));
}

/* A search that fails is repeated after 50 ms, then ever more rarely, but once a second; one that succeeds is the last. */
static void test_search(void **state)
{
	struct interpreter interpreter = { .kind = INTERP_RUBY, .globals = GLOBALS };
	struct gc_search search = { 0 };
	uint64_t ms, searches = 0;
	size_t before;

	(void)state;
	ruby_release_keep(&interpreter, ruby_release_find("3.1.0"));
	for (ms = 1; ms <= 10000; ms += 10) {
		before = fake_reads;
		assert_false(gc_search_run(&search, &interpreter, &fake_present, ms * 1000000));
		searches += fake_reads > before;
	}
	assert_in_range(searches, 10, 15);
	search.counter.count = FAKE_BASE;
	before = fake_reads;
	assert_true(gc_search_run(&search, &interpreter, &fake_present, 1));
	assert_int_equal(fake_reads, before);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_clear)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_ruby), TEST(test_unknown), TEST(test_python),
					    TEST(test_absent), TEST(test_search) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
