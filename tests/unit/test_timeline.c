/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sites held at each moment: against a table of all moments, and of a recording against the run that it is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded_run.h"
#include "recording/timeline_reader.h"
#include "unit/scratch.h"

#define SITES 12
#define MOMENTS 60
#define SECONDS 130

/* The truth: what was set, at all moments. */
struct model {
	uint64_t bytes[SITES][MOMENTS];
	uint64_t totals[MOMENTS];
};

static void model_fill(struct model *model, struct timeline *timeline, unsigned int seed)
{
	uint64_t held[SITES] = { 0 };
	size_t moment, site;

	for (moment = 0; moment < MOMENTS; moment++) {
		bool whole = moment % 7 == 6;

		timeline_begin(timeline, moment * 10);
		for (site = 0; site < SITES; site++) {
			bool set = rand_r(&seed) % 3 == 0;

			if (set)
				held[site] = (uint64_t)rand_r(&seed) % 4 * 1000;
			else if (whole)
				held[site] = 0;
			/* Every third is of a program that has ended, and has the key of the one before. */
			if (set)
				timeline_set(timeline, site % 3 == 2 ? site - 1 : site, held[site],
					     site % 3 == 2);
			model->bytes[site][moment] = held[site];
			model->totals[moment] += site % 3 == 2 ? 0 : held[site];
		}
		if (whole)
			timeline_end_whole(timeline);
	}
}

static void test_moments(void **state)
{
	unsigned int seed;
	size_t moment, site;

	(void)state;
	for (seed = 1; seed <= 50; seed++) {
		struct timeline timeline = { 0 };
		struct model model = { 0 };
		uint64_t bytes[MOMENTS];

		model_fill(&model, &timeline, seed);
		assert_int_equal(timeline.count, MOMENTS);
		for (moment = 0; moment < MOMENTS; moment++) {
			assert_int_equal(timeline.moments[moment].time_ns, moment * 10);
			assert_int_equal(timeline.moments[moment].bytes, model.totals[moment]);
		}
		for (site = 0; site < SITES; site++) {
			struct snapshot_site row = { .key = site % 3 == 2 ? site - 1 : site,
						     .ended = site % 3 == 2 };

			assert_true(timeline_add_row(&timeline, &row, bytes));
			assert_memory_equal(bytes, model.bytes[site], sizeof(bytes));
		}
		timeline_free(&timeline);
	}
}

/* A row of several sites has their sum; one that was never seen has held nothing. */
static void test_rows(void **state)
{
	struct timeline timeline = { 0 };
	struct snapshot_site members[] = { { .key = 1 }, { .key = 2 }, { .key = 77 } };
	struct snapshot_site row = { .members = members, .member_count = 3 };
	uint64_t bytes[3];

	(void)state;
	timeline_begin(&timeline, 0);
	timeline_set(&timeline, 1, 10, false);
	timeline_begin(&timeline, 1);
	timeline_set(&timeline, 2, 5, false);
	timeline_begin(&timeline, 2);
	timeline_set(&timeline, 1, 0, false);
	timeline_mark(&timeline, 1, "deploy");
	assert_true(timeline_add_row(&timeline, &row, bytes));
	assert_int_equal(bytes[0], 10);
	assert_int_equal(bytes[1], 15);
	assert_int_equal(bytes[2], 5);
	assert_string_equal(timeline.marks[0].name, "deploy");
	assert_int_equal(timeline.marks[0].moment, 1);
	/* Where there was no room for all, what is not there is not known. */
	timeline.is_full = true;
	assert_false(timeline_add_row(&timeline, &row, bytes));
	timeline_free(&timeline);
}

static struct snapshot *distinct_snapshot(struct run *run, uint64_t second)
{
	struct snapshot *snapshot = run_snapshot(run, second);
	size_t i;

	/* Two sites of the run have one key, also while both live. */
	for (i = 0; i < 2; i++)
		snapshot->sites[i].key = 2000 + i;
	return snapshot;
}

static void write_run(struct run *run, const char *path)
{
	const struct writer_options options = { .names = run_names(run), .host = "here" };
	struct error error = { 0 };
	struct writer writer;
	uint64_t second;

	assert_int_equal(writer_open(&writer, path, &options, &error), 0);
	for (second = 0; second <= SECONDS; second++) {
		struct snapshot *snapshot = distinct_snapshot(run, second);

		assert_int_equal(writer_add(&writer, snapshot, second == 30 ? "m1" : NULL, &error),
				 0);
		snapshot_free(snapshot);
	}
	assert_int_equal(writer_close(&writer, &error), 0);
}

/* What the run had at a second, of sites whose program lives. */
static uint64_t run_total(struct run *run, uint64_t second)
{
	struct snapshot *snapshot = distinct_snapshot(run, second);
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		if (!snapshot->sites[i].ended)
			bytes += site_stats_inuse_bytes(&snapshot->sites[i].stats);
	snapshot_free(snapshot);
	return bytes;
}

/* All intervals of a recording, two of which have all figures; sites come, go, and are of a program that ends. */
static void test_recording(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "run.db");
	struct run *run = run_new();
	struct timeline timeline = { 0 };
	struct reader reader = { 0 };
	struct error error = { 0 };
	struct snapshot_site row = { .key = 1006 };
	struct site_stats stats;
	uint64_t bytes[SECONDS + 1], second;

	(void)state;
	write_run(run, path);
	assert_int_equal(reader_open(&reader, path, &error), 0);
	assert_int_equal(timeline_reader_read(&reader, SECONDS, false, &timeline, &error), 0);
	assert_int_equal(timeline.count, SECONDS);
	for (second = 0; second < SECONDS; second++) {
		assert_int_equal(timeline.moments[second].time_ns, second * RUN_SECOND);
		assert_int_equal(timeline.moments[second].bytes, run_total(run, second));
	}
	assert_true(timeline_add_row(&timeline, &row, bytes));
	for (second = 0; second < SECONDS; second++)
		assert_int_equal(bytes[second],
				 run_stats(6, second, &stats) ? site_stats_inuse_bytes(&stats) : 0);
	assert_int_equal(timeline.mark_count, 1);
	assert_int_equal(timeline.marks[0].moment, 30);
	assert_string_equal(timeline.marks[0].name, "m1");
	timeline_free(&timeline);
	reader_close(&reader);
	run_free(run);
	free(path);
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
