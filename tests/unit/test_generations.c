/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks by their births: counted, recorded, thinned, read, and what is retained of them. Truth: the births that were made up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <unistd.h>

#include "verdict/retained.h"
#include "recorded_run.h"
#include "recording/reader.h"

#define SECONDS 240
#define MARK_EVERY 20

static char folder[64], path[80];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_generations-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/x.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

/* What is born at the time of a mark was there before it. */
static void test_marks(void **state)
{
	struct marks marks = { 0 };

	(void)state;
	assert_true(marks_before(&marks, 7) == 0);
	marks_add(&marks, 10);
	marks_add(&marks, 10);
	marks_add(&marks, 5);
	marks_add(&marks, 30);
	assert_int_equal(marks.count, 2);
	assert_true(marks_before(&marks, 10) == 0);
	assert_true(marks_before(&marks, 11) == 10);
	assert_true(marks_before(&marks, 30) == 10);
	assert_true(marks_before(&marks, UINT64_MAX) == 30);
	assert_true(marks_have(&marks, 30) && !marks_have(&marks, 29) && !marks_have(&marks, 31));
	marks_free(&marks);
}

static void test_sums(void **state)
{
	static const uint64_t since[] = { 30, 0, 10, 30, 20, 10 };
	struct generations births = { 0 }, copy;
	struct generation found;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		generations_add(&births, &(struct generation){ since[i], 100 + i, 1 });
	assert_int_equal(births.count, 4);
	for (i = 1; i < births.count; i++)
		assert_true(births.items[i - 1].since_ns < births.items[i].since_ns);
	assert_true(generations_find(&births, 30)->bytes == 203);
	assert_null(generations_find(&births, 25));
	found = generations_between(&births, 10, 30);
	assert_true(found.bytes == 102 + 105 + 104 && found.objects == 3);
	found = generations_between(&births, 10, UINT64_MAX);
	assert_true(found.objects == 5);
	generations_add(&births, &(struct generation){ 30, UINT64_MAX, 0 });
	assert_true(generations_find(&births, 30)->bytes == UINT64_MAX);
	generations_copy(&copy, &births);
	generations_free(&births);
	assert_int_equal(copy.count, 4);
	generations_free(&copy);
}

/* Recordings */

static uint64_t mark_time(uint64_t number)
{
	return RUN_BEGIN + number * MARK_EVERY * RUN_SECOND;
}

/*
 * The births of a site at a second, as numbers alone decide: of each mark some blocks, which become fewer, and none after a while. The
 * mark of this second is not yet one of them.
 */
static void make_births(uint64_t site, uint64_t second, struct generations *births)
{
	uint64_t mark, objects;

	for (mark = 0; mark * MARK_EVERY < second; mark++) {
		uint64_t age = (second - mark * MARK_EVERY) / 30;

		objects = site == 1 ? 9 : 12 + site > 3 * age ? 12 + site - 3 * age : 0;
		if (objects)
			generations_add(births, &(struct generation){ mark ? mark_time(mark) : 0,
								      objects * 16, objects });
	}
}

static struct snapshot *snapshot_with_births(struct run *run, uint64_t second)
{
	struct snapshot *snapshot = run_snapshot(run, second);
	struct marks marks = { 0 };
	uint64_t mark;
	size_t i;

	for (mark = 1; mark * MARK_EVERY < second; mark++)
		marks_add(&marks, mark_time(mark));
	snapshot_set_marks(snapshot, &marks);
	marks_free(&marks);
	for (i = 0; i < snapshot->site_count; i++)
		make_births(snapshot->sites[i].key - 1000, second, &snapshot->sites[i].births);
	return snapshot;
}

static void record(struct run *run, uint64_t limit)
{
	const struct writer_options options = { .names = run_names(run),
						.host = "here",
						.limit = limit };
	struct error error = { 0 };
	struct writer writer;
	uint64_t second;

	unlink(path);
	assert_int_equal(writer_open(&writer, path, &options, &error), 0);
	for (second = 0; second <= SECONDS; second++) {
		struct snapshot *snapshot = snapshot_with_births(run, second);
		bool marked = second && second % MARK_EVERY == 0;

		assert_int_equal(writer_add(&writer, snapshot, marked ? "m" : NULL, &error), 0);
		snapshot_free(snapshot);
	}
	assert_int_equal(writer_close(&writer, &error), 0);
}

static bool births_are_equal(const struct generations *a, const struct generations *b)
{
	size_t i;

	/* What nothing is left of may be listed. */
	for (i = 0; i < a->count; i++) {
		const struct generation *other = generations_find(b, a->items[i].since_ns);

		if ((other ? other->objects : 0) != a->items[i].objects ||
		    (other ? other->bytes : 0) != a->items[i].bytes)
			return false;
	}
	return true;
}

/* Is what the recording has of an interval what was made up for its second? */
static void check_interval(struct reader *reader, uint64_t interval)
{
	struct error error = { 0 };
	struct snapshot *snapshot;
	uint64_t second;
	size_t i;

	if (reader_load(reader, interval, &snapshot, &error))
		fail_msg("%s", error.text);
	assert_true(snapshot->births_known);
	second = (snapshot->time_ns - RUN_BEGIN) / RUN_SECOND;
	assert_int_equal(snapshot->marks.count, second / MARK_EVERY);
	for (i = 0; i < snapshot->site_count; i++) {
		struct generations wanted = { 0 };

		make_births(snapshot->sites[i].key - 1000, second, &wanted);
		assert_true(births_are_equal(&snapshot->sites[i].births, &wanted));
		assert_true(births_are_equal(&wanted, &snapshot->sites[i].births));
		generations_free(&wanted);
	}
	snapshot_free(snapshot);
}

/* Also with intervals taken out. */
static void check_recording(uint64_t limit)
{
	struct error error = { 0 };
	struct run *run = run_new();
	struct reader reader;
	uint64_t intervals[SECONDS + 1];
	struct query query;
	size_t count = 0, i;

	record(run, limit);
	assert_int_equal(reader_open(&reader, path, &error), 0);
	query_open(&query, &reader.database, "SELECT id FROM interval");
	while (query_next(&query))
		intervals[count++] = query_take_number(&query, SECONDS + 1);
	query_close(&query);
	assert_true(limit ? count < SECONDS : count == SECONDS + 1);
	for (i = 0; i < count; i++)
		check_interval(&reader, intervals[i]);
	reader_close(&reader);
	run_free(run);
}

static void test_recorded(void **state)
{
	(void)state;
	check_recording(0);
	check_recording(100 << 10);
}

/* Recordings of former versions have no such table; those of enemies have anything in it. */
static void test_other_recordings(void **state)
{
	static const struct {
		const char *sql;
		bool is_read;
	} cases[] = {
		{ "DROP TABLE born", true },
		{ "INSERT INTO born VALUES(3, 99999, 1, 1, 1)", true },
		{ "UPDATE born SET since_ns = 77, interval = interval * 1000 + since_ns % 1000",
		  true },
		{ "UPDATE born SET objects = -1 WHERE site = 1", false },
		{ "UPDATE born SET bytes = 'moon'", false },
	};
	struct run *run = run_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *snapshot = NULL;
		struct error error = { 0 };
		struct reader reader;
		sqlite3 *database;

		record(run, 0);
		assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
		sqlite3_exec(database, cases[i].sql, NULL, NULL, NULL);
		sqlite3_close(database);
		assert_int_equal(reader_open(&reader, path, &error), 0);
		if (!reader_load(&reader, 100, &snapshot, &error) != cases[i].is_read)
			fail_msg("%s: %s", cases[i].sql, error.text);
		if (snapshot)
			assert_int_equal(snapshot->births_known, i > 0);
		snapshot_free(snapshot);
		reader_close(&reader);
	}
	run_free(run);
}

/* Retained */

#define INUSE(allocated, freed)                                      \
	{                                                            \
		(allocated) * 10ull, allocated, (freed)*10ull, freed \
	}

static struct retained limit(const struct profile_figures figures[3], bool one_run, bool all_listed)
{
	struct profile profiles[3] = { { .run = 7, .time_ns = 1 }, { .run = 7 }, { .run = 7 } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1], &profiles[2] };
	const bool listed[] = { all_listed, true, true }, known[] = { true, true, true };

	profiles[2].run = one_run ? 7 : 8;
	return retained_limit(pointers, figures, listed, known);
}

static void test_limits(void **state)
{
	/* 5 held; then 20 more; then 3 more, and 4 freed. */
	const struct profile_figures figures[] = { INUSE(5, 0), INUSE(25, 0), INUSE(28, 4) };
	struct retained found = limit(figures, true, true);

	(void)state;
	/* 24 are held: 5 may be the first ones, and 3 the last ones. */
	assert_true(found.known && found.low_objects == 16 && found.high_objects == 20);
	assert_true(found.low_bytes == 160 && found.high_bytes == 200);
	/* If nobody knows what was allocated at first. */
	found = limit(figures, true, false);
	assert_true(found.low_objects == 16 && found.high_objects == 24);
	found = limit(figures, false, true);
	assert_true(found.known && found.low_objects == 0 && found.high_objects == 24);
}

/* Births count only within one run, between marks that it has, in their order. */
static void test_births_are_asked_for(void **state)
{
	struct profile profiles[3] = { { .run = 7, .time_ns = 10 },
				       { .run = 7, .time_ns = 20 },
				       { .run = 7, .time_ns = 30, .births_known = true } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1], &profiles[2] };
	const struct profile *const others[] = { &profiles[1], &profiles[0], &profiles[2] };

	(void)state;
	assert_false(retained_has_births(pointers));
	marks_add(&profiles[2].marks, 10);
	assert_false(retained_has_births(pointers));
	marks_add(&profiles[2].marks, 20);
	assert_true(retained_has_births(pointers));
	assert_false(retained_has_births(others));
	profiles[1].run = 8;
	assert_false(retained_has_births(pointers));
	profiles[1].run = 7;
	profiles[2].births_known = false;
	assert_false(retained_has_births(pointers));
	marks_free(&profiles[2].marks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),	 cmocka_unit_test(test_sums),
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_other_recordings),
		cmocka_unit_test(test_limits),	 cmocka_unit_test(test_births_are_asked_for),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
