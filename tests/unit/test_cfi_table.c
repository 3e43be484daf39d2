/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows and their search. Packing: every field comes back as it went in, next to every other one. Search: the
 * page index must find what a walk over all rows finds, at and around each row's pc.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "map_file.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_table.h"

#define END UNWIND_RULE(UNWIND_CFA_END, 0, 0, 0)
#define SP(words) UNWIND_RULE(UNWIND_CFA_SP, UNWIND_BP_SAME, words, 0)

static void assert_packs(uint32_t pc, uint32_t cfa, uint32_t bp, uint32_t cfa_offset, int bp_offset)
{
	__u64 row = UNWIND_ROW(pc, UNWIND_RULE(cfa, bp, cfa_offset, bp_offset));
	uint32_t rule = UNWIND_ROW_RULE(row);

	assert_int_equal(UNWIND_ROW_PC(row), pc);
	assert_int_equal(UNWIND_RULE_CFA(rule), cfa);
	assert_int_equal(UNWIND_RULE_BP(rule), bp);
	assert_int_equal(UNWIND_RULE_CFA_OFFSET(rule), cfa_offset);
	assert_int_equal(UNWIND_RULE_BP_OFFSET(rule), bp_offset);
}

static void test_packing(void **state)
{
	static const uint32_t pcs[] = { 0, 1, 0x7fffffff, 0x80000000, UINT32_MAX };
	static const uint32_t cfa_offsets[] = { 0, 1, 0xffff, UNWIND_CFA_OFFSET_MAX };
	uint32_t cfa, bp;
	size_t i, j;
	int offset;

	(void)state;
	for (cfa = 0; cfa < 8; cfa++)
		for (bp = 0; bp < 4; bp++)
			for (i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++)
				for (j = 0; j < sizeof(cfa_offsets) / sizeof(cfa_offsets[0]); j++)
					for (offset = -512; offset <= 511; offset += 31)
						assert_packs(pcs[i], cfa, bp, cfa_offsets[j],
							     offset);
	assert_packs(5, UNWIND_CFA_BP, UNWIND_BP_AT_CFA, 2, UNWIND_BP_OFFSET_MAX);
}

/* The cache's slot and tag together are the pc. */
static void test_cache_word(void **state)
{
	static const uint64_t pcs[] = { 0, 1, 0x1fff, 0x2000, 0x555555554321, 0x7fffffffffff };
	uint64_t tag;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pcs) / sizeof(pcs[0]); i++) {
		tag = UNWIND_CACHE_TAG(pcs[i], 77) >> 30;
		assert_int_equal(tag << 13 | ((UNWIND_CACHE_SLOT(pcs[i]) ^ tag) & 0x1fff), pcs[i]);
		assert_int_equal(UNWIND_CACHE_TAG(pcs[i], 77) >> 24 & 63, 77 & 63);
		assert_int_equal(UNWIND_CACHE_RULE(UNWIND_CACHE_TAG(pcs[i], 77) | 0x123456),
				 0x123456);
	}
}

/* A rule that fits comes out as it was; the others are recognized by their row. */
static void test_short_rules(void **state)
{
	static const uint32_t cfa_offsets[] = { 0, 1, 1023, 1024, UNWIND_CFA_OFFSET_MAX };
	uint32_t cfa, bp, i, rule;
	int offset;

	(void)state;
	for (cfa = 0; cfa < 8; cfa++)
		for (bp = 0; bp < 4; bp++)
			for (i = 0; i < sizeof(cfa_offsets) / sizeof(cfa_offsets[0]); i++)
				for (offset = -512; offset <= 511; offset++) {
					rule = UNWIND_RULE(cfa, bp, cfa_offsets[i], offset);
					assert_int_equal(UNWIND_SHORT_FITS(rule),
							 cfa != UNWIND_CFA_UNSUPPORTED && i < 3 &&
								 offset >= -256 && offset < 256);
					if (!UNWIND_SHORT_FITS(rule))
						continue;
					assert_int_equal(UNWIND_SHORT_RULE(UNWIND_SHORT(rule)),
							 rule);
					assert_true(UNWIND_SHORT(rule) < 1u << 24);
				}
	assert_int_equal(UNWIND_SHORT_ROW(UNWIND_SHORT_OF_ROW(UNWIND_SHORT_ROWS - 1)),
			 UNWIND_SHORT_ROWS - 1);
	assert_true(UNWIND_SHORT_OF_ROW(UNWIND_SHORT_ROWS - 1) < 1u << 24);
}

static void test_rows_merge(void **state)
{
	static const __u64 expected[] = {
		UNWIND_ROW(0, END),	UNWIND_ROW(0x100, SP(1)), UNWIND_ROW(0x104, SP(2)),
		UNWIND_ROW(0x108, END), UNWIND_ROW(0x110, SP(2)), UNWIND_ROW(0x130, SP(3)),
		UNWIND_ROW(0x140, END),
	};
	struct cfi_rows rows;

	(void)state;
	cfi_rows_start(&rows);
	cfi_rows_add(&rows, 0x100, SP(1));
	cfi_rows_add(&rows, 0x102, SP(1));
	cfi_rows_add(&rows, 0x104, SP(3));
	cfi_rows_add(&rows, 0x104, SP(2));
	cfi_rows_end(&rows, 0x108);
	/* A gap belongs to nobody; where there is none, the next function goes on with the same rule. */
	cfi_rows_add(&rows, 0x110, SP(2));
	cfi_rows_end(&rows, 0x120);
	cfi_rows_add(&rows, 0x120, SP(2));
	cfi_rows_end(&rows, 0x130);
	cfi_rows_add(&rows, 0x130, SP(3));
	cfi_rows_end(&rows, 0x140);
	assert_int_equal(rows.count, sizeof(expected) / sizeof(expected[0]));
	assert_memory_equal(rows.items, expected, sizeof(expected));
	cfi_rows_free(&rows);
}

/* A function at address 0 leaves the first row in place: searches step back to it. */
static void test_rows_at_zero(void **state)
{
	struct cfi_rows rows;

	(void)state;
	cfi_rows_start(&rows);
	cfi_rows_add(&rows, 0, SP(1));
	cfi_rows_end(&rows, 8);
	assert_int_equal(rows.count, 3);
	assert_true(rows.items[0] == UNWIND_ROW(0, END));
	assert_true(rows.items[1] == UNWIND_ROW(0, SP(1)));
	cfi_rows_free(&rows);
}

/* More rows on a page than a search can distinguish: the last ones are left out. */
static void test_rows_of_a_full_page(void **state)
{
	struct cfi_rows rows;
	uint32_t pc;

	(void)state;
	cfi_rows_start(&rows);
	for (pc = 0x1000; pc < 0x2003; pc++)
		cfi_rows_add(&rows, pc, SP(pc % 3));
	assert_int_equal(rows.count, 1 + UNWIND_PAGE_ROWS_MAX + 3);
	assert_int_equal(UNWIND_ROW_PC(rows.items[UNWIND_PAGE_ROWS_MAX]), 0x1ffe);
	assert_int_equal(UNWIND_ROW_PC(rows.items[UNWIND_PAGE_ROWS_MAX + 1]), 0x2000);
	cfi_rows_free(&rows);
}

static bool load(const char *path, struct cfi_table *table)
{
	struct elf_image image;
	const void *bytes;
	size_t size;
	bool loaded;

	bytes = map_file(path, &size);
	if (!bytes)
		return false;
	loaded = !elf_image_open(bytes, size, ELF_LAYOUT_FILE, &image) &&
		 !cfi_table_build(&image, table);
	munmap((void *)bytes, size);
	return loaded;
}

/* `at` is the position of the last row at or below each pc, by going through all of them. */
static void check_search(const struct cfi_table *table)
{
	uint32_t i, next;
	__u64 pc;

	for (i = 1; i < table->row_count; i++) {
		pc = UNWIND_ROW_PC(table->rows[i]);
		next = i + 1 < table->row_count ? UNWIND_ROW_PC(table->rows[i + 1]) : UINT32_MAX;
		assert_true(i == 1 || UNWIND_ROW_PC(table->rows[i - 1]) < pc);
		assert_true(cfi_table_find(table, pc) == table->rows[i]);
		assert_true(cfi_table_find(table, pc - 1) == table->rows[i - 1]);
		assert_true(cfi_table_find(table, pc + 1) ==
			    table->rows[pc + 1 < next ? i : i + 1]);
	}
	assert_true(cfi_table_find(table, 0) == table->rows[0]);
	assert_true(cfi_table_find(table, UINT64_MAX) == table->rows[0]);
}

static void test_page_index(void **state)
{
	struct cfi_table table;
	uint32_t page, row;

	(void)state;
	assert_true(load("/lib/x86_64-linux-gnu/libc.so.6", &table));
	assert_true(table.row_count > 10000);
	check_search(&table);
	for (page = 0; page < table.page_count; page++) {
		assert_true(table.pages[page + 1] - table.pages[page] <= UNWIND_PAGE_ROWS_MAX);
		for (row = table.pages[page]; row < table.pages[page + 1]; row++)
			assert_int_equal(UNWIND_ROW_PC(table.rows[row]) >> UNWIND_PAGE_SHIFT,
					 table.first_page + page);
	}
	assert_int_equal(table.pages[0], 1);
	assert_int_equal(table.pages[page], table.row_count);
	cfi_table_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packing),	     cmocka_unit_test(test_cache_word),
		cmocka_unit_test(test_short_rules),  cmocka_unit_test(test_rows_merge),
		cmocka_unit_test(test_rows_at_zero), cmocka_unit_test(test_rows_of_a_full_page),
		cmocka_unit_test(test_page_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
