/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of --budget: the truth is the report of the same snapshot before it was written. Traces are those of budget_sim.h, a longer one for
 * every second interval, so that marks and censuses stay in part, and come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/budget_sim.h"
#include "unit/recorded_file.h"
#include "unit/recorded_run.h"
#include "verdict/budget_estimate.h"
#include "analyze/report_verdict.h"
#include "recording/number_rows.h"
#include "recording/reader.h"

#define INTERVALS 12

enum { JSON, TEXT, FORMATS };

static const char *const formats[] = { "json", "text" };

/* Reports of the snapshots that were written, and what is estimated of the first site at the last one. */
static char *live[INTERVALS + 1][FORMATS];
static struct budget_estimate last_estimate;

static const struct sim_target target = {
	.sites = { { .size = 100, .leaks_per_s = 40, .passing = 2 },
		   { .size = 3000, .leaks_per_s = 1, .cached_per_s = 50, .life_s = 2 },
		   { .size = 64, .cached_per_s = 60, .life_s = 5, .replaced = 0.5 },
		   { .size = 500, .leaks_per_s = 10, .written_s = 3 } },
	.site_count = 4,
	.windows = 30,
	.window_s = 0.3,
	.own = 0.8,
	.running = 0.9,
	.census_s = 4,
	.most_of_site = 64,
};

/* As the session thins them: one mark and one census less than before. */
static void thin(struct budget_report *report)
{
	struct budget_heap *heap = &report->heaps[0];
	size_t i, last = --heap->census_count;

	memmove(&report->marks[1], &report->marks[2],
		(--report->mark_count - 1) * sizeof(report->marks[0]));
	memmove(&heap->censuses[1], &heap->censuses[2], (last - 1) * sizeof(heap->censuses[0]));
	for (i = 0; i < heap->size_count; i++) {
		struct budget_size *size = &heap->sizes[i];

		memmove(&size->blocks[1], &size->blocks[2], (last - 1) * sizeof(uint64_t));
		memmove(&size->bytes[1], &size->bytes[2], (last - 1) * sizeof(uint64_t));
	}
}

/* What is of one time in two traces differs: a census is of one time only. */
static void shift_censuses(struct budget_report *report, uint64_t ns)
{
	struct budget_heap *heap = &report->heaps[0];
	size_t i;

	for (i = 0; i + 1 < heap->census_count; i++)
		heap->censuses[i].time_ns += ns;
}

/* The snapshot of an interval, from 1. Free with snapshot_free. */
static struct snapshot *budget_snapshot(struct run *run, uint64_t interval)
{
	struct random_numbers random = { 42 + interval / 2 };
	struct sim_target wanted = target;
	struct snapshot *snapshot = snapshot_new();
	double leaked[SIM_SITES] = { 0 };
	uint64_t key;

	wanted.duration_s = 30 + 10 * (double)(interval / 2);
	snapshot->budget = sim_run(&wanted, &random, leaked);
	snapshot->budget->time_ns += interval % 2;
	shift_censuses(snapshot->budget, interval / 2);
	if (interval % 2)
		thin(snapshot->budget);
	/* A heap that cannot be counted, and at times one that comes and goes. */
	if (interval % 3) {
		struct budget_heap *heap = budget_report_add_heap(snapshot->budget);

		heap->target_id = 7;
		heap->reason = memory_copy_string("no heap was recognized");
		heap->censuses = memory_alloc(1, sizeof(*heap->censuses));
		heap->cpu_ns = interval / 3;
	}
	snapshot->start_ns = SIM_START;
	snapshot->time_ns = snapshot->budget->time_ns;
	snapshot->wall_time = 1767225600 + (int64_t)interval;
	snapshot->id_seed = 1;
	snapshot->loss[LOSS_COUNT - 1] = 3;
	snapshot_set_modules(snapshot, &run->modules);
	snapshot_hold_names(snapshot, run->names);
	snapshot_add_target(snapshot, &run->targets[0]);
	for (key = 1; key <= target.site_count + 1; key++) {
		struct snapshot_site row = { .key = key,
					     .target = &run->targets[0],
					     .function = &run->functions[0],
					     .source = SOURCE_HEAP,
					     .stack = run->stacks[key] };

		row.stats.alloc_objects = 77; /* of windows */
		snapshot_add_site(snapshot, &row);
	}
	return snapshot;
}

/* As command/reporter.c makes it. Free with free(). */
static char *render(struct snapshot *snapshot, const struct report_names *names, const char *format)
{
	struct budget_estimates *estimates = budget_estimates_new(snapshot->budget);
	const struct report_options options = { .estimates = estimates, .sort = SORT_LEAK };
	char *text;

	budget_estimates_apply(estimates, snapshot);
	text = run_render_with(snapshot, &options, names, format);
	budget_estimates_free(estimates);
	return text;
}

/* As command/recorder.c does. */
static bool estimate_site(void *context, const struct snapshot_site *site,
			  struct site_estimate *ret_estimate)
{
	struct budget_estimates *const *estimates = context;
	const struct budget_estimate estimate = budget_estimate_of(*estimates, site);

	*ret_estimate = (struct site_estimate){ .rate = estimate.rate,
						.grown = estimate.bytes,
						.followed = estimate.followed };
	return estimate.known;
}

static void forget_reports(void)
{
	uint64_t interval;
	int format;

	for (interval = 1; interval <= INTERVALS; interval++)
		for (format = 0; format < FORMATS; format++) {
			free(live[interval][format]);
			live[interval][format] = NULL;
		}
}

static void write_intervals(struct run *run, uint64_t limit)
{
	const struct report_names names = { run_lookup, run, run_hint };
	struct budget_estimates *estimates = NULL;
	const struct writer_options options = { .names = run_names(run),
						.judge = { .estimate = estimate_site,
							   .context = &estimates },
						.host = "here",
						.budget = true,
						.limit = limit };
	struct error error = { 0 };
	struct snapshot *snapshot;
	struct writer writer;
	uint64_t interval;
	int format;

	forget_reports();
	assert_int_equal(writer_open(&writer, recorded_path, &options, &error), 0);
	for (interval = 1; interval <= INTERVALS; interval++) {
		snapshot = budget_snapshot(run, interval);
		for (format = 0; format < FORMATS; format++)
			live[interval][format] = render(snapshot, &names, formats[format]);
		estimates = budget_estimates_new(snapshot->budget);
		if (writer_add(&writer, snapshot, NULL, &error))
			fail_msg("%s", error.text);
		last_estimate = budget_estimate_of(estimates, &snapshot->sites[0]);
		budget_estimates_free(estimates);
		snapshot_free(snapshot);
	}
	assert_int_equal(writer_close(&writer, &error), 0);
}

static void check_interval(struct reader *reader, uint64_t interval)
{
	const struct report_names names = recorded_names(reader);
	struct snapshot *snapshot;
	struct error error = { 0 };
	char *text;
	int format;

	if (reader_load(reader, interval, &snapshot, &error))
		fail_msg("%s", error.text);
	assert_non_null(snapshot->budget);
	assert_false(snapshot->births_known);
	for (format = 0; format < FORMATS; format++) {
		text = render(snapshot, &names, formats[format]);
		assert_string_equal(text, live[interval][format]);
		assert_non_null(strstr(text, format == JSON ? "growth_bytes_per_s" : "~"));
		free(text);
	}
	snapshot_free(snapshot);
}

/* All figures, limits, curves and verdicts of a JSON report, and the text, are those of the live one at each interval. */
static void test_as_live(void **state)
{
	struct run *run = run_new();
	struct error error = { 0 };
	struct reader reader;
	uint64_t interval;

	(void)state;
	write_intervals(run, 0);
	assert_int_equal(reader_open(&reader, recorded_path, &error), 0);
	for (interval = 1; interval <= INTERVALS; interval++)
		check_interval(&reader, interval);
	reader_close(&reader);
	unlink(recorded_path);
	run_free(run);
}

/* What a limit takes out leaves the others as they were, and no census that none of them has. */
static void test_thinned(void **state)
{
	struct run *run = run_new();
	struct error error = { 0 };
	struct reader reader;
	uint64_t interval;

	(void)state;
	write_intervals(run, 1);
	assert_true(recorded_ask("SELECT count(*) FROM interval") < INTERVALS);
	assert_int_equal(recorded_ask("SELECT count(*) FROM budget"),
			 recorded_ask("SELECT count(*) FROM interval"));
	assert_int_equal(
		recorded_ask("SELECT count(*) FROM census c WHERE NOT EXISTS (SELECT 1 FROM"
			     " interval WHERE id >= since AND (until IS NULL OR id < until))"),
		0);
	assert_int_equal(reader_open(&reader, recorded_path, &error), 0);
	for (interval = 1; interval <= INTERVALS; interval++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM interval WHERE id = %d",
			 (int)interval);
		if (recorded_ask(sql))
			check_interval(&reader, interval);
	}
	reader_close(&reader);
	unlink(recorded_path);
	run_free(run);
}

/* Users of SQL have estimates with their limits, as the report of the last interval has them. */
static void test_estimates(void **state)
{
	struct run *run = run_new();

	(void)state;
	write_intervals(run, 0);
	assert_true(last_estimate.rate.low > 0);
#define LAST(column)                                                                      \
	"SELECT CAST(" column " AS INTEGER) FROM estimate e JOIN site s ON s.id = e.site" \
	" WHERE s.key = 1 ORDER BY e.interval DESC LIMIT 1"
	assert_int_equal(recorded_ask(LAST("rate")), (int64_t)last_estimate.rate.value);
	assert_int_equal(recorded_ask(LAST("rate_low")), (int64_t)last_estimate.rate.low);
	assert_int_equal(recorded_ask(LAST("rate_high")), (int64_t)last_estimate.rate.high);
	assert_int_equal(recorded_ask(LAST("grown_low")), (int64_t)last_estimate.bytes.low);
	assert_int_equal(recorded_ask(LAST("grown_high")), (int64_t)last_estimate.bytes.high);
	assert_int_equal(recorded_ask(LAST("followed")), (int64_t)last_estimate.followed);
	assert_int_equal(recorded_ask("SELECT min(sampled) FROM site"), 1);
	/* What two intervals have in common is there once, and what was thinned ends. */
	assert_true(recorded_ask("SELECT count(*) FROM window_mark WHERE until - since = 2") > 0);
	assert_true(recorded_ask("SELECT count(*) FROM census WHERE until - since = 1") > 0);
	assert_true(recorded_ask("SELECT count(*) FROM census WHERE until IS NULL") > 0);
	/* The class of 100 bytes is what the census has of them. */
	assert_true(recorded_ask("SELECT count(*) FROM census, json_each(sizes) z WHERE"
				 " z.value ->> 0 = 96 AND z.value ->> 1 > 0") > 0);
	unlink(recorded_path);
	run_free(run);
}

static const char *const attacks[][2] = {
	{ "UPDATE budget SET time_ns = time_ns + 1", "times of a budget are not its interval's" },
	{ "UPDATE budget SET start_ns = time_ns + 1", "times of a budget are not its interval's" },
	{ "UPDATE budget SET hits = -1", "out of its range" },
	{ "UPDATE budget SET cost_unknown = NULL", "a number is missing" },
	{ "UPDATE window_mark SET windows = 5", "marks of windows do not grow" },
	{ "UPDATE window_mark SET traced_ns = 1000000 - windows", "marks of windows do not grow" },
	{ "UPDATE heap SET place = 4294967296 WHERE place = 7", "out of its range" },
	{ "DELETE FROM heap", "a census is of no heap" },
	{ "UPDATE census SET place = 9", "a census is of no heap" },
	{ "UPDATE census SET time_ns = 1, since = -time_ns, until = NULL",
	  "times of censuses do not grow" },
	{ "UPDATE census SET sizes = '[[1,2,3]]'", "sizes of a census are none" },
	{ "UPDATE census SET sizes = '[[96,2]]'", "sizes of a census are none" },
	{ "UPDATE census SET sizes = '[[96,2,3],'", "sizes of a census are none" },
	{ "UPDATE census SET sizes = '{}'", "sizes of a census are none" },
	{ "UPDATE census SET live_bytes = 9007199254740993", "out of its range" },
	{ "UPDATE cohort SET blocks = '[[96,3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]'",
	  "blocks of a cohort are none" },
	{ "UPDATE cohort SET blocks = '[[96,4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,99999999,1]]'",
	  "blocks of a cohort are none" },
	{ "UPDATE cohort SET freed_blocks = 'x'", "a number is missing" },
};

static void test_hostile(void **state)
{
	struct run *run = run_new();
	struct snapshot *snapshot;
	struct reader reader;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		struct error error = { 0 };

		write_intervals(run, 0);
		recorded_change(attacks[i][0]);
		assert_int_equal(reader_open(&reader, recorded_path, &error), 0);
		if (!reader_load(&reader, INTERVALS - 1, &snapshot, &error))
			fail_msg("taken in spite of '%s'", attacks[i][0]);
		assert_int_equal(error.kind, ERROR_USAGE);
		if (!strstr(error.text, attacks[i][1]))
			fail_msg("%s: '%s'", attacks[i][0], error.text);
		reader_close(&reader);
		unlink(recorded_path);
	}
	run_free(run);
}

static void test_number_rows(void **state)
{
	const uint64_t first[] = { 1, 0, 1ull << 40 }, second[] = { 7, 8, 9 };
	uint64_t row[3];
	struct buffer text = { 0 };
	struct number_rows rows;

	(void)state;
	number_rows_close(&text);
	assert_int_equal(text.length, 0);
	number_rows_append(&text, first, 3);
	number_rows_append(&text, second, 3);
	number_rows_close(&text);
	assert_string_equal(text.data, "[[1,0,1099511627776],[7,8,9]]");
	rows = number_rows_begin(text.data);
	assert_true(number_rows_next(&rows, row, 3, UINT64_MAX));
	assert_memory_equal(row, first, sizeof(row));
	assert_true(number_rows_next(&rows, row, 3, UINT64_MAX));
	assert_memory_equal(row, second, sizeof(row));
	assert_false(number_rows_next(&rows, row, 3, UINT64_MAX) || rows.damaged);
	rows = number_rows_begin(text.data);
	assert_false(number_rows_next(&rows, row, 3, 100));
	assert_true(rows.damaged);
	rows = number_rows_begin(NULL);
	assert_false(number_rows_next(&rows, row, 3, 100) || rows.damaged);
	buffer_free(&text);
}

static int remove_folder(void **state)
{
	forget_reports();
	return recorded_remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_live),	    cmocka_unit_test(test_thinned),
		cmocka_unit_test(test_estimates),   cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_number_rows),
	};

	return cmocka_run_group_tests(tests, recorded_make_folder, remove_folder);
}
