/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address_space against a model that keeps, for each moment, what every page held: an array of moments
 * times pages, written by the definition of the events and by nothing of the code under test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/address_space.h"

#define PAGE 4096ULL
#define PAGES 48
#define MOMENTS 400
#define MODULES 5
#define ANONYMOUS MODULES

/* What a page held: 0 = nothing, else 1 + its module (or ANONYMOUS) and the file page. */
struct page {
	uint32_t owner, file_page;
};

struct truth {
	struct page pages[MOMENTS + 1][PAGES];
};

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % limit;
}

static void assert_file(const struct address_space *space, uint64_t address, uint64_t time_ns,
			uint32_t expected_module, uint64_t expected_offset)
{
	uint32_t module = 77;
	uint64_t offset = 77;

	assert_int_equal(address_space_resolve(space, address, time_ns, &module, &offset),
			 ADDRESS_FILE);
	assert_int_equal(module, expected_module);
	assert_int_equal(offset, expected_offset);
}

static void assert_unknown(const struct address_space *space, uint64_t address, uint64_t time_ns)
{
	uint32_t module = 77;
	uint64_t offset = 77;

	assert_int_equal(address_space_resolve(space, address, time_ns, &module, &offset),
			 ADDRESS_UNKNOWN);
	assert_int_equal(module, 77);
	assert_int_equal(offset, 77);
}

static void test_newer_covers_older(void **state)
{
	struct address_space *space = address_space_new();

	(void)state;
	address_space_map(space, 0x1000, 0x5000, 0x10000, 0, 0);
	address_space_map(space, 0x2000, 0x3000, 0, 1, 100);
	assert_file(space, 0x1fff, 100, 0, 0x10fff);
	assert_file(space, 0x2000, 100, 1, 0);
	assert_file(space, 0x2000, 99, 0, 0x11000);
	assert_file(space, 0x3000, 500, 0, 0x12000);
	assert_unknown(space, 0xfff, 500);
	assert_unknown(space, 0x5000, 500);
	address_space_free(space);
}

static void test_repetition(void **state)
{
	struct address_space *space = address_space_new();

	(void)state;
	address_space_map(space, 0x1000, 0x5000, 0, 1, 100);
	address_space_map(space, 0x2000, 0x3000, 0x1000, 1, 200);
	assert_int_equal(address_space_count(space), 1);
	assert_int_equal(address_space_history_count(space), 0);
	/* It turns out to be older than was known: what came before it in the history is not asked. */
	address_space_map(space, 0x1000, 0x5000, 0x7000, 2, 300);
	address_space_map(space, 0x1000, 0x5000, 0x7000, 2, 150);
	assert_int_equal(address_space_count(space), 1);
	assert_file(space, 0x1000, 150, 2, 0x7000);
	assert_file(space, 0x1000, 149, 1, 0);
	address_space_free(space);
}

static void test_noticed_late(void **state)
{
	struct address_space *space = address_space_new();

	(void)state;
	/* Nothing is old enough: the first that came after. */
	address_space_map(space, 0x1000, 0x2000, 0, 1, 100);
	address_space_map(space, 0x1000, 0x2000, 0, 2, 200);
	assert_file(space, 0x1000, 50, 1, 0);
	/* An event that comes late does not cover what began later. */
	address_space_map(space, 0x1000, 0x3000, 0, 3, 150);
	assert_file(space, 0x1000, 250, 2, 0);
	assert_file(space, 0x1000, 160, 3, 0);
	assert_file(space, 0x2000, 250, 3, 0x1000);
	address_space_free(space);
}

static void test_exec_separates_programs(void **state)
{
	struct address_space *space = address_space_new();

	(void)state;
	address_space_map(space, 0x1000, 0x3000, 0, 1, 10);
	address_space_reset(space, 100);
	assert_int_equal(address_space_count(space), 0);
	assert_unknown(space, 0x1000, 100);
	assert_file(space, 0x1000, 99, 1, 0);
	/* "Since the program began", and the other program must not answer for it. */
	address_space_map(space, 0x2000, 0x4000, 0, 2, 0);
	assert_file(space, 0x2000, 100, 2, 0);
	assert_file(space, 0x2000, 99, 1, 0x1000);
	assert_unknown(space, 0x3000, 99);
	/* A late event of the old program stays in the past. */
	address_space_map(space, 0x8000, 0x9000, 0, 3, 50);
	assert_unknown(space, 0x8000, 100);
	assert_file(space, 0x8000, 60, 3, 0);
	address_space_free(space);
}

static void test_anonymous(void **state)
{
	struct address_space *space = address_space_new();
	uint32_t module = 0, *modules;
	uint64_t offset = 1;

	(void)state;
	address_space_map_anonymous(space, 0x1000, 0x2000, 1);
	assert_int_equal(address_space_resolve(space, 0x1234, 1, &module, &offset),
			 ADDRESS_ANONYMOUS);
	assert_int_equal(module, MODULE_NONE);
	assert_int_equal(offset, 0);
	address_space_map(space, 0x2000, 0x3000, 0, 9, 1);
	address_space_map(space, 0x6000, 0x7000, 0, 4, 1);
	address_space_map(space, 0x4000, 0x5000, 0, 9, 1);
	address_space_map(space, 0x8000, 0x9000, 0, MODULE_NONE, 1);
	assert_int_equal(address_space_modules(space, &modules), 2);
	assert_int_equal(modules[0], 4);
	assert_int_equal(modules[1], 9);
	free(modules);
	address_space_free(space);
}

static void test_ranges_from_outside(void **state)
{
	struct address_space *space = address_space_new();
	uint32_t *modules;

	(void)state;
	address_space_map(space, 0x2000, 0x2000, 0, 1, 1);
	address_space_map(space, 0x3000, 0x2000, 0, 1, 1);
	assert_int_equal(address_space_count(space), 0);
	address_space_map(space, 0, UINT64_MAX, UINT64_MAX, 1, 1);
	assert_file(space, UINT64_MAX - 1, 1, 1, UINT64_MAX - 2);
	assert_unknown(space, UINT64_MAX, 1);
	assert_int_equal(address_space_modules(space, &modules), 1);
	free(modules);
	address_space_free(space);
	address_space_free(NULL);
}

/* What a program does that loads and unloads a library for hours. */
static void test_memory_is_bounded(void **state)
{
	struct address_space *space = address_space_new();
	uint64_t i;

	(void)state;
	for (i = 1; i <= 100000; i++)
		address_space_map(space, 0x1000, 0x3000, 0, 1, i);
	assert_int_equal(address_space_count(space), 1);
	assert_int_equal(address_space_history_count(space), 0);
	for (; i <= 200000; i++)
		address_space_map(space, 0x1000, 0x3000, 0, (uint32_t)(i % 2), i);
	assert_int_equal(address_space_count(space), 1);
	assert_int_equal(address_space_history_count(space), ADDRESS_SPACE_HISTORY_MAX);
	assert_file(space, 0x1000, 200000, 0, 0);
	assert_file(space, 0x1000, 200000 - ADDRESS_SPACE_HISTORY_MAX, 0, 0);
	assert_file(space, 0x1000, 200001 - ADDRESS_SPACE_HISTORY_MAX, 1, 0);
	for (i = 0; i < ADDRESS_SPACE_MAPPINGS_MAX + 10; i++)
		address_space_map(space, i * 0x2000, i * 0x2000 + 0x1000, 0, 3, 300000);
	assert_true(address_space_count(space) <= ADDRESS_SPACE_MAPPINGS_MAX + 1);
	assert_true(address_space_needs_scan(space));
	address_space_scan_begin(space, 400000);
	address_space_map(space, 0x2000, 0x3000, 0, 3, 400000);
	address_space_scan_end(space);
	assert_int_equal(address_space_count(space), 1);
	assert_false(address_space_needs_scan(space));
	address_space_free(space);
}

/* Map the present pages of the model again, in runs, as /proc/PID/maps would show them. */
static void scan_truth(struct address_space *space, const struct page *pages, uint64_t time_ns)
{
	uint64_t first, last;

	address_space_scan_begin(space, time_ns);
	for (first = 0; first < PAGES; first = last) {
		for (last = first + 1; last < PAGES; last++)
			if (pages[last].owner != pages[first].owner ||
			    (pages[first].owner != 1 + ANONYMOUS &&
			     pages[last].file_page != pages[first].file_page + last - first))
				break;
		if (pages[first].owner == 1 + ANONYMOUS)
			address_space_map_anonymous(space, first * PAGE, last * PAGE, time_ns);
		else if (pages[first].owner)
			address_space_map(space, first * PAGE, last * PAGE,
					  pages[first].file_page * PAGE, pages[first].owner - 1,
					  time_ns);
	}
	address_space_scan_end(space);
}

static void step_map(struct address_space *space, struct page *pages, uint64_t time_ns,
		     uint64_t *seed)
{
	uint32_t first = random_below(seed, PAGES), i;
	uint32_t length = 1 + random_below(seed, PAGES - first < 12 ? PAGES - first : 12);
	uint32_t owner = random_below(seed, MODULES + 1);
	uint32_t file_page = random_below(seed, 2) ? first : random_below(seed, 8);

	for (i = 0; i < length; i++)
		pages[first + i] = (struct page){ 1 + owner, file_page + i };
	if (owner == ANONYMOUS)
		address_space_map_anonymous(space, first * PAGE, (first + length) * PAGE, time_ns);
	else
		address_space_map(space, first * PAGE, (first + length) * PAGE, file_page * PAGE,
				  owner, time_ns);
}

static void step(struct address_space *space, struct page *pages, uint64_t time_ns, uint64_t *seed)
{
	uint32_t kind = random_below(seed, 40), i;

	if (kind == 0) {
		memset(pages, 0, PAGES * sizeof(*pages));
		address_space_reset(space, time_ns);
	} else if (kind < 5) {
		for (i = 0; i < PAGES; i++)
			if (!random_below(seed, 6))
				pages[i].owner = 0;
		scan_truth(space, pages, time_ns);
	} else {
		step_map(space, pages, time_ns, seed);
	}
}

static void assert_page(const struct address_space *space, const struct page *page,
			uint64_t address, uint64_t time_ns)
{
	uint32_t module;
	uint64_t offset;

	if (!page->owner)
		return;
	if (page->owner == 1 + ANONYMOUS) {
		assert_int_equal(address_space_resolve(space, address, time_ns, &module, &offset),
				 ADDRESS_ANONYMOUS);
		return;
	}
	assert_file(space, address, time_ns, page->owner - 1,
		    page->file_page * PAGE + address % PAGE);
}

/* What has ended before a moment is forgotten, and what ended later is not, also when the history has gone round. */
static void test_ended_are_forgotten(void **state)
{
	struct address_space *space = address_space_new();
	bool marks[3 * ADDRESS_SPACE_HISTORY_MAX] = { false };
	uint64_t count = 2 * ADDRESS_SPACE_HISTORY_MAX + 10, last = count - 1, keep = count - 5, i;

	(void)state;
	assert_true(address_space_is_scanned(space));
	/* Module i is there from i + 1 on, and ends at i + 2. */
	for (i = 0; i < count; i++)
		address_space_map(space, PAGE, 2 * PAGE, 0, (uint32_t)i, i + 1);
	assert_false(address_space_is_scanned(space));
	assert_int_equal(address_space_history_count(space), ADDRESS_SPACE_HISTORY_MAX);
	address_space_forget_ended(space, keep + 2);
	assert_int_equal(address_space_history_count(space), last - keep);
	address_space_mark(space, marks);
	for (i = 0; i < count; i++)
		assert_int_equal(marks[i], i >= keep);
	for (i = keep; i < count; i++)
		assert_file(space, PAGE, i + 1, (uint32_t)i, 0);
	/* The history still works. */
	address_space_map(space, PAGE, 2 * PAGE, 0, 1, count + 1);
	assert_file(space, PAGE, count, (uint32_t)last, 0);
	assert_file(space, PAGE, count + 1, 1, 0);
	address_space_forget_ended(space, UINT64_MAX);
	assert_int_equal(address_space_history_count(space), 0);
	assert_file(space, PAGE, count + 1, 1, 0);
	address_space_scan_begin(space, count + 2);
	address_space_map(space, PAGE, 2 * PAGE, 0, 1, count + 2);
	address_space_scan_end(space);
	assert_true(address_space_is_scanned(space));
	address_space_forget_all(space);
	assert_int_equal(address_space_count(space), 0);
	assert_unknown(space, PAGE, count + 2);
	address_space_free(space);
}

static void test_against_model(void **state)
{
	struct truth *truth = calloc(1, sizeof(*truth));
	uint64_t seed, time, page;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct address_space *space = address_space_new();
		uint64_t random = seed, moments = 1 + random_below(&random, MOMENTS);

		memset(truth, 0, sizeof(*truth));
		/* As long as nothing is forgotten, every moment of the past must be right. */
		for (time = 0; time < moments && address_space_history_count(space) <
							 ADDRESS_SPACE_HISTORY_MAX - PAGES;) {
			time++;
			memcpy(truth->pages[time], truth->pages[time - 1],
			       sizeof(truth->pages[time]));
			step(space, truth->pages[time], time, &random);
		}
		for (; time > 0; time--)
			for (page = 0; page < PAGES; page++)
				assert_page(space, &truth->pages[time][page],
					    page * PAGE + time % PAGE, time);
		address_space_free(space);
	}
	free(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer_covers_older),
		cmocka_unit_test(test_repetition),
		cmocka_unit_test(test_noticed_late),
		cmocka_unit_test(test_exec_separates_programs),
		cmocka_unit_test(test_anonymous),
		cmocka_unit_test(test_ranges_from_outside),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_ended_are_forgotten),
		cmocka_unit_test(test_against_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
