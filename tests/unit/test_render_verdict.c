/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts in words, as JSON, and as an order of rows. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/verdict_clause.h"
#include "render/json_verdict.h"
#include "unit/expected.h"
#include "unit/sample.h"

#define MIB 1048576.0

static void check_clause(struct verdict verdict, const char *expected)
{
	struct buffer text = { 0 };

	verdict_clause_append(&verdict, &text);
	assert_string_equal(text.data ? text.data : "", expected);
	buffer_free(&text);
}

static void test_clauses(void **state)
{
	const struct estimate growth = { 4.1 * MIB / 60, 4 * MIB / 60, 4.2 * MIB / 60 };
	struct verdict leak = { .word = VERDICT_LEAK,
				.growth = growth,
				.r2 = 0.991,
				.never_freed_known = true,
				.never_freed = { 0.12, 0.1101, 0.1299 } };

	(void)state;
	check_clause(leak, "12 % of blocks never freed (95 %: 11 to 13), 4.1 MiB/min, R2 0.99");
	leak.never_freed = (struct estimate){ 0.00123, 0.00101, 0.00149 };
	leak.gcs_known = true;
	leak.gcs = 3;
	check_clause(leak, "0.12 % of blocks never freed (95 %: 0.10 to 0.15), 4.1 MiB/min, "
			   "R2 0.99, 3 GCs");
	leak = (struct verdict){ .word = VERDICT_LEAK,
				 .growth = growth,
				 .r2 = -1,
				 .estimated = true,
				 .never_freed_known = true,
				 .never_freed = { 0.12, 0.1101, 0.1299 } };
	check_clause(leak, "12 % of blocks that outlive a window never freed (95 %: 11 to 13), "
			   "4.1 MiB/min");
	check_clause(
		(struct verdict){
			.word = VERDICT_GROWING, .growth = growth, .r2 = -1, .kept = true },
		"4.1 MiB/min; nothing freed yet: a leak, or a cache that is not full");
	check_clause((struct verdict){ .word = VERDICT_GROWING,
				       .growth = growth,
				       .r2 = 0.5,
				       .wait_ns = 1500000000 },
		     "4.1 MiB/min, R2 0.50; whether what stays is freed is not known yet: look for "
		     "about 2.0 s more");
	check_clause((struct verdict){ .word = VERDICT_GROWING,
				       .growth = growth,
				       .r2 = 0.5,
				       .gcs_known = true,
				       .may_be_garbage = true },
		     "4.1 MiB/min, R2 0.50; what stays may be garbage: needs 2 major collections, "
		     "seen 0");
	check_clause((struct verdict){ .word = VERDICT_FILLING,
				       .growth = growth,
				       .growth_before = 12 * MIB / 60,
				       .level_bytes = 17 * MIB,
				       .level_ns = 120000000000 },
		     "4.1 MiB/min, was 12.0 MiB/min; levels out near 17.0 MiB in about 2m00s");
	check_clause((struct verdict){ .word = VERDICT_CACHE,
				       .inuse_objects = 1000,
				       .mean_life_ns = 12000000000 },
		     "births and deaths balance at 1,000 blocks, which live 12.0 s on average");
	check_clause((struct verdict){ .word = VERDICT_WARM_UP,
				       .grown_ns = 3000000000,
				       .time_ns = 30000000000 },
		     "all growth came in the first 3.0 s of 30.0 s");
	check_clause((struct verdict){ .word = VERDICT_STEADY, .inuse_bytes = 1048576 },
		     "1.0 MiB, not growing");
	check_clause((struct verdict){ .word = VERDICT_TEMPORARY,
				       .mean_life_ns = 100000,
				       .temporary = 0.98 },
		     "blocks live 0.1 ms on average, 98 % are freed by the next call");
	check_clause((struct verdict){ .word = VERDICT_UNKNOWN, .wait_ns = 3000000000 },
		     "look for about 3.0 s more");
	check_clause((struct verdict){ 0 }, "");
}

static void test_json(void **state)
{
	const struct verdict unknown = { .word = VERDICT_UNKNOWN,
					 .growth = { 0, -INFINITY, INFINITY },
					 .r2 = -1,
					 .early_share = 0.25,
					 .wait_ns = 3000000000,
					 .time_ns = 1000000000 };
	struct buffer out = { 0 };
	struct json_writer json = { .out = &out };

	(void)state;
	json_writer_open(&json, '{');
	json_verdict(&json, &unknown);
	json_writer_close(&json, '}');
	assert_string_equal(
		out.data,
		"{\"verdict\":{\"word\":\"unknown\",\"never_freed\":null,"
		"\"growth_bytes_per_s\":{\"value\":0,\"mid\":0,\"low\":null,\"high\":null},"
		"\"r2\":null,\"wait_s\":3.0,\"growth_before_bytes_per_s\":0,"
		"\"level_bytes\":null,\"level_s\":null,\"nothing_freed\":false,\"births\":0,"
		"\"gained_objects\":0,\"others_s\":null,\"survivors\":0,\"early_share\":0.25,"
		"\"time_s\":1.0,\"text\":\"look for about 3.0 s more\"}}");
	buffer_free(&out);
}

/* A site that has grown evenly, and in which of `of` blocks one is kept. */
static void grow(struct sample *sample, struct history *history, uint64_t key, uint64_t of)
{
	const uint64_t blocks = 6000;
	const struct frame frame = { FRAME_NATIVE, 0, 0, sample_name(sample, "grow", "a.c", 7),
				     NULL };
	struct snapshot_site *site;
	struct site_stats stats;
	unsigned int i;

	stats = (struct site_stats){ .alloc_objects = blocks * of,
				     .alloc_bytes = blocks * of * 100,
				     .free_objects = blocks * (of - 1),
				     .free_bytes = blocks * (of - 1) * 100,
				     .lives = { .classes = { [1] = blocks * (of - 1) },
						.units = blocks * (of - 1),
						.longest = 1 },
				     .oldest_ns = 30 * SAMPLE_SECOND };
	/* Born evenly in 30 s. */
	for (i = 0; i < blocks; i++)
		stats.ages[lifespans_class((i + 1) * 30 * SAMPLE_SECOND / blocks)]++;
	site = sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1), stats);
	site->key = key;
	for (i = 0; i < history->count; i++) {
		struct history until = *history;
		const uint64_t part = (i + 1) * blocks * of / (history->count + 1);

		until.count = i + 1;
		history_set(&until, key,
			    &(struct site_stats){ .alloc_objects = part,
						  .alloc_bytes = part * 100,
						  .free_objects = part - part / of,
						  .free_bytes = (part - part / of) * 100 });
		history->sites = until.sites;
	}
}

/* A leak comes first, however little it is; what nothing is freed of is none. */
static void test_order(void **state)
{
	struct history history = { 0 };
	struct report_options options = { .sort = SORT_LEAK, .history = &history };
	struct sample *sample = sample_new_empty(1);
	const struct report_names names = sample_names(sample);
	const struct render_options plain = { 0 };
	struct buffer text = { 0 };
	struct report *report;
	uint64_t i;

	(void)state;
	sample_module(sample, "/usr/bin/grow", 1);
	for (i = 1; i < 30; i++)
		history_begin(&history, sample->snapshot.start_ns + i * SAMPLE_SECOND);
	grow(sample, &history, 11, 1);
	grow(sample, &history, 12, 10);
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->leaks, 1);
	assert_int_equal(report->judged, 2);
	assert_int_equal(report->unjudged, 0);
	assert_int_equal(report->verdict.word, VERDICT_LEAK);
	assert_int_equal(report->sites[0].origin->key, 12);
	assert_int_equal(report->sites[0].verdict.word, VERDICT_LEAK);
	assert_true(report->sites[0].verdict.never_freed.low < 0.1 &&
		    report->sites[0].verdict.never_freed.high > 0.1);
	assert_int_equal(report->sites[1].verdict.word, VERDICT_GROWING);
	assert_true(report->sites[1].verdict.kept);
	render_format_find("json")->render(report, &plain, &text);
	assert_int_equal(check_reports(text.data, text.length, ""), 1);
	buffer_clear(&text);
	render_format_find("text")->render(report, &(struct render_options){ .columns = 120 },
					   &text);
	assert_non_null(strstr(text.data, "VERDICT"));
	assert_non_null(
		strstr(text.data, "\n     LEAK: 10 % of blocks never freed (95 %: 9 to 11), "));
	assert_non_null(strstr(text.data, "\nverdict: 1 row: LEAK: "));
	buffer_free(&text);
	report_free(report);
	history_free(&history);
	sample_free(sample);
}

/* Without --sort, in text: by verdicts once one of them matters, by what is in use until then. */
static void test_order_by_itself(void **state)
{
	struct history history = { 0 };
	struct report_options options = { .sort = SORT_AUTO };
	struct sample *sample = sample_new_empty(1);
	const struct report_names names = sample_names(sample);
	struct report *report;
	uint64_t i;

	(void)state;
	for (i = 1; i < 30; i++)
		history_begin(&history, sample->snapshot.start_ns + i * SAMPLE_SECOND);
	grow(sample, &history, 11, 1);
	grow(sample, &history, 12, 10);
	sample->snapshot.sites[0].stats.alloc_bytes += 1000000;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->options.sort, SORT_INUSE);
	assert_int_equal(report->sites[0].origin->key, 11);
	assert_int_equal(report->judged, 0);
	assert_int_equal(report->unjudged, 2);
	report_free(report);
	options.history = &history;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->options.sort, SORT_LEAK);
	assert_int_equal(report->sites[0].origin->key, 12);
	assert_int_equal(report->judged + report->unjudged, 2);
	assert_true(report->judged >= report->leaks && report->leaks);
	report_free(report);
	history_free(&history);
	sample_free(sample);
}

/* What grows does not come before a greater row that may turn out to be a leak. */
static void test_order_with_unclear(void **state)
{
	struct history history = { 0 };
	struct report_options options = { .sort = SORT_AUTO, .history = &history };
	struct sample *sample = sample_new_empty(1);
	const struct report_names names = sample_names(sample);
	const struct frame frame = { FRAME_NATIVE, 0, 0, sample_name(sample, "once", "a.c", 9),
				     NULL };
	struct report *report;
	uint64_t i;

	(void)state;
	for (i = 1; i < 30; i++)
		history_begin(&history, sample->snapshot.start_ns + i * SAMPLE_SECOND);
	grow(sample, &history, 11, 1);
	/* A block of which no earlier moment is known. */
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1),
		    (struct site_stats){ .alloc_objects = 1, .alloc_bytes = 1 })
		->key = 13;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->options.sort, SORT_LEAK);
	assert_int_equal(report->sites[0].origin->key, 11);
	assert_int_equal(report->sites[0].verdict.word, VERDICT_GROWING);
	assert_int_equal(report->sites[1].verdict.word, VERDICT_UNKNOWN);
	report_free(report);
	sample->snapshot.sites[1].stats.alloc_bytes =
		sample->snapshot.sites[0].stats.alloc_bytes + 1;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->options.sort, SORT_INUSE);
	assert_int_equal(report->sites[0].origin->key, 13);
	assert_int_equal(report->sites[0].verdict.word, VERDICT_UNKNOWN);
	report_free(report);
	history_free(&history);
	sample_free(sample);
}

/* In a watch the row that holds most has a name whatever its word, also beyond the rows that are asked for. */
static void test_watch_greatest(void **state)
{
	struct history history = { 0 };
	struct settled settled = { 0 };
	const struct course course = { 0 };
	const struct report_options options = { .sort = SORT_LEAK,
						.top = 1,
						.history = &history,
						.settled = &settled,
						.course = &course };
	struct sample *sample = sample_new_empty(1);
	const struct report_names names = sample_names(sample);
	const struct frame frame = { FRAME_NATIVE, 0, 0, sample_name(sample, "once", "a.c", 9),
				     NULL };
	const struct site_stats once = { .alloc_objects = 1, .alloc_bytes = 75 << 20 };
	struct buffer text = { 0 };
	struct report *report;
	uint64_t i;

	(void)state;
	for (i = 1; i < 30; i++) {
		history_begin(&history, sample->snapshot.start_ns + i * SAMPLE_SECOND);
		history_set(&history, 13, &once);
	}
	grow(sample, &history, 11, 1);
	grow(sample, &history, 12, 10);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1), once)->key = 13;
	for (i = 0; i < 3; i++)
		sample->sites[i].id = i + 1;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->site_count, 2);
	assert_int_equal(report->sites[1].origin->key, 13);
	render_format_find("text")->render_watch(report, &(struct render_options){ .columns = 80 },
						 &text);
	assert_non_null(strstr(text.data, "+75.0 MiB   1 block         a.c:9 via malloc\n"));
	assert_non_null(strstr(text.data, "\nnot yet known          1.1 MiB     2 lines"));
	buffer_free(&text);
	report_free(report);
	settled_free(&settled);
	history_free(&history);
	sample_free(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clauses),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_by_itself),
		cmocka_unit_test(test_order_with_unclear),
		cmocka_unit_test(test_watch_greatest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
