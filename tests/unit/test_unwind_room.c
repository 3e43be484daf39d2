/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room that is given out and taken back, against a model that has a byte for each place; and tables of many files in a
 * store, each of which must read the same as long as it is there, whatever came and went around it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "unwind/unwind_store.h"
#include "unwind/unwind_tables.h"

#define PLACES 600u
#define HELD_MAX 64
#define STEPS 20000

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % limit;
}

struct held {
	uint32_t start, count;
};

struct model {
	unsigned char taken[PLACES];
	struct held held[HELD_MAX];
	uint32_t held_count;
};

/* Where `count` free places in a row begin first; PLACES = nowhere. */
static uint32_t model_find(const struct model *model, uint32_t count)
{
	uint32_t i, run = 0;

	for (i = 0; i < PLACES; i++) {
		run = model->taken[i] ? 0 : run + 1;
		if (run == count)
			return i + 1 - count;
	}
	return PLACES;
}

/* The free runs of the model are those of the room: in order, and none touches another. */
static void assert_same(const struct unwind_room *room, const struct model *model)
{
	uint32_t i, left = 0;
	size_t run = 0;

	for (i = 0; i < PLACES; i++) {
		left += !model->taken[i];
		if (model->taken[i] || (i && !model->taken[i - 1]))
			continue;
		assert_true(run < room->count);
		assert_int_equal(room->runs[run].start, i);
		run++;
	}
	assert_int_equal(run, room->count);
	assert_int_equal(left, room->left);
}

static void model_take(struct model *model, struct unwind_room *room, uint64_t *random)
{
	uint32_t count = 1 + random_below(random, 30), start = 12345;
	uint32_t expected = model_find(model, count);

	if (model->held_count == HELD_MAX)
		return;
	assert_int_equal(unwind_room_take(room, count, &start), expected != PLACES);
	if (expected == PLACES) {
		assert_int_equal(start, 12345);
		return;
	}
	assert_int_equal(start, expected);
	memset(model->taken + start, 1, count);
	model->held[model->held_count++] = (struct held){ start, count };
}

/* All of what was taken once, or the end of it. */
static void model_give(struct model *model, struct unwind_room *room, uint64_t *random)
{
	struct held *held;
	uint32_t part;

	if (!model->held_count)
		return;
	held = &model->held[random_below(random, model->held_count)];
	part = random_below(random, 4) ? held->count : 1 + random_below(random, held->count);
	held->count -= part;
	unwind_room_give(room, held->start + held->count, part);
	memset(model->taken + held->start + held->count, 0, part);
	if (!held->count)
		*held = model->held[--model->held_count];
}

static void test_room_against_model(void **state)
{
	struct unwind_room room;
	struct model model = { 0 };
	uint64_t random = 1;
	int i;

	(void)state;
	unwind_room_start(&room, 0, PLACES);
	for (i = 0; i < STEPS; i++) {
		if (random_below(&random, 2))
			model_take(&model, &room, &random);
		else
			model_give(&model, &room, &random);
		assert_same(&room, &model);
	}
	while (model.held_count)
		model_give(&model, &room, &random);
	/* All that was given out in pieces is one again. */
	assert_int_equal(room.count, 1);
	assert_int_equal(room.left, PLACES);
	unwind_room_free(&room);
}

#define FILES 40
#define ROWS 1000u
#define PAGES 300u

/* A file with `rows` rows, one a page, whose rules say which file it is. */
static struct cfi_table table_of(uint32_t file, uint32_t rows)
{
	struct cfi_table table = { .row_count = rows, .page_count = rows - 1, .first_page = 1 };
	uint32_t i;

	table.rows = calloc(rows, sizeof(*table.rows));
	table.pages = calloc(rows, sizeof(*table.pages));
	for (i = 1; i < rows; i++)
		table.rows[i] = UNWIND_ROW(i << UNWIND_PAGE_SHIFT,
					   UNWIND_RULE(UNWIND_CFA_SP, 0, file * 100 + i, 0));
	for (i = 0; i < rows; i++)
		table.pages[i] = i + 1;
	return table;
}

static void assert_table(const struct unwind_store *store, const struct unwind_file_rows *rows,
			 uint32_t file, uint32_t count)
{
	uint32_t i;

	assert_int_equal(rows->first_page, 1);
	assert_int_equal(rows->page_count, count - 1);
	assert_int_equal(store->rows[store->pages[rows->pages] - 1], 0);
	for (i = 1; i < count; i++)
		assert_int_equal(UNWIND_RULE_CFA_OFFSET(UNWIND_ROW_RULE(
					 store->rows[store->pages[rows->pages + i - 1]])),
				 file * 100 + i);
	assert_int_equal(store->pages[rows->pages + count - 1],
			 store->pages[rows->pages] + count - 1);
}

/* Which files are in the tables, and how many rows each has. */
struct shelf {
	struct unwind_tables tables;
	uint32_t rows[FILES];
	uint32_t total;
};

static bool shelf_add(struct shelf *shelf, uint32_t file, uint32_t rows)
{
	struct unwind_file added = { .table = table_of(file, rows), .code_count = 1 };
	int code = unwind_tables_add(&shelf->tables, file, 0, &added);

	cfi_table_free(&added.table);
	assert_true(!code || code == -ENOSPC);
	assert_true(unwind_tables_has(&shelf->tables, file));
	if (!code) {
		shelf->rows[file] = rows;
		shelf->total += rows;
	}
	return !code;
}

static void shelf_remove(struct shelf *shelf, uint32_t file)
{
	unwind_tables_remove(&shelf->tables, file);
	assert_false(unwind_tables_has(&shelf->tables, file));
	shelf->total -= shelf->rows[file];
	shelf->rows[file] = 0;
}

static void shelf_check(const struct shelf *shelf)
{
	struct unwind_file_rows rows;
	uint32_t i;

	for (i = 0; i < FILES; i++) {
		assert_int_equal(unwind_tables_rows(&shelf->tables, i, &rows), shelf->rows[i] > 0);
		if (shelf->rows[i])
			assert_table(&shelf->tables.store, &rows, i, shelf->rows[i]);
	}
}

static void test_tables_come_and_go(void **state)
{
	uint64_t *rows = calloc(ROWS, sizeof(*rows)), random = 7;
	uint32_t *pages = calloc(PAGES, sizeof(*pages));
	struct shelf shelf = { 0 };
	uint32_t i, file, refused = 0;

	(void)state;
	unwind_store_start(&shelf.tables.store, (__u64 *)rows, ROWS, pages, PAGES);
	for (i = 0; i < 5000; i++) {
		file = random_below(&random, FILES);
		if (shelf.rows[file] || unwind_tables_has(&shelf.tables, file))
			shelf_remove(&shelf, file);
		else
			refused += !shelf_add(&shelf, file, 2 + random_below(&random, 20));
		shelf_check(&shelf);
	}
	assert_true(refused > 0);
	for (file = 0; file < FILES; file++)
		shelf_remove(&shelf, file);
	/* As large as everything: nothing was lost on the way. */
	assert_true(shelf_add(&shelf, 1, PAGES));
	shelf_check(&shelf);
	unwind_tables_free(&shelf.tables);
	free(rows);
	free(pages);
}

static void test_one_that_found_no_room(void **state)
{
	uint64_t rows[32] = { 0 };
	uint32_t pages[32] = { 0 };
	struct shelf shelf = { 0 };

	(void)state;
	unwind_store_start(&shelf.tables.store, (__u64 *)rows, 32, pages, 32);
	assert_true(shelf_add(&shelf, 0, 20));
	assert_false(shelf_add(&shelf, 1, 20));
	shelf_check(&shelf);
	assert_true(shelf_add(&shelf, 2, 10));
	shelf_remove(&shelf, 0);
	assert_true(unwind_tables_has(&shelf.tables, 1));
	assert_int_equal(unwind_tables_retry(&shelf.tables), 1);
	assert_false(unwind_tables_has(&shelf.tables, 1));
	assert_int_equal(unwind_tables_retry(&shelf.tables), 0);
	assert_true(shelf_add(&shelf, 1, 20));
	shelf_check(&shelf);
	/* What was never added is no error. */
	unwind_tables_remove(&shelf.tables, 12345);
	unwind_tables_free(&shelf.tables);
}

static int share_add(struct unwind_tables *tables, uint32_t module, int holder, uint32_t rows)
{
	struct unwind_file added = { .table = table_of(module % 100, rows), .code_count = 1 };
	int code = unwind_tables_add(tables, module, holder, &added);

	cfi_table_free(&added.table);
	return code;
}

/* A process takes what it can, and another one still finds room; what several have is in nobody's share. */
static void test_shares(void **state)
{
	static uint64_t rows[1000];
	static uint32_t pages[1000];
	struct unwind_tables tables = { 0 };
	uint32_t greedy = 0, last;
	int code;

	(void)state;
	unwind_store_start(&tables.store, (__u64 *)rows, 1000, pages, 1000);
	while (!(code = share_add(&tables, greedy, 1, 50)))
		greedy++;
	assert_int_equal(code, -EDQUOT);
	assert_in_range(greedy, 13, 15);
	assert_int_equal(share_add(&tables, 100, 2, 100), 0);
	assert_int_equal(share_add(&tables, 101, 1, 50), -EDQUOT);
	last = greedy - 1;
	unwind_tables_share(&tables, last);
	unwind_tables_share(&tables, last - 1);
	unwind_tables_share(&tables, last - 1);
	unwind_tables_share(&tables, 12345);
	unwind_tables_remove(&tables, last);
	unwind_tables_remove(&tables, 0);
	assert_int_equal(unwind_tables_retry(&tables), 2);
	assert_int_equal(share_add(&tables, 101, 1, 50), 0);
	assert_int_equal(share_add(&tables, 102, 0, 50), 0);
	unwind_tables_free(&tables);
}

/* What is not mapped yet is counted until it is mapped or forgotten. */
static void test_expected(void **state)
{
	static uint64_t rows[1000];
	static uint32_t pages[1000];
	struct unwind_tables tables = { 0 };

	(void)state;
	unwind_store_start(&tables.store, (__u64 *)rows, 1000, pages, 1000);
	assert_int_equal(share_add(&tables, 0, 1, 50), 0);
	assert_int_equal(share_add(&tables, 1, 1, 60), 0);
	assert_int_equal(tables.expected_rows, 0);
	unwind_tables_expect(&tables, 0);
	unwind_tables_expect(&tables, 0);
	unwind_tables_expect(&tables, 1);
	unwind_tables_expect(&tables, 12345);
	assert_int_equal(tables.expected_rows, 110);
	unwind_tables_see(&tables, 0);
	unwind_tables_see(&tables, 0);
	unwind_tables_see(&tables, 12345);
	assert_int_equal(tables.expected_rows, 60);
	unwind_tables_remove(&tables, 0);
	unwind_tables_remove(&tables, 1);
	assert_int_equal(tables.expected_rows, 0);
	unwind_tables_free(&tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_against_model),
		cmocka_unit_test(test_tables_come_and_go),
		cmocka_unit_test(test_one_that_found_no_room),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
