/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON format: an expected output, and nasty reports read by an independent parser, Python's, which
 * also checks every key of schema 1 (tests/data/render/check_report.py).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/json_writer.h"
#include "unit/expected.h"
#include "unit/nasty.h"

static void check_output(const char *name, struct sample *sample)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = sample_render(report, "json", &plain);

	assert_expected(name, text);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	free(text);
	report_free(report);
	sample_free(sample);
}

static void test_server(void **state)
{
	(void)state;
	check_output("server.json", sample_server());
}

static void test_samples(void **state)
{
	(void)state;
	check_output("sampled.json", sample_server_sampled());
}

/* 6200 calls of 6.1 us in 0.2 s. */
static void test_price(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *text;

	(void)state;
	sample->snapshot.price = (struct price){ .counted = true,
						 .window_ns = 200000000,
						 .calls = 6200,
						 .threads = 2,
						 .measured = true,
						 .cost_ns = 37820000,
						 .busiest_ns = 30000000,
						 .busiest_cpu_ns = 40000000,
						 .call_ns = 6100 };
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "json", &plain);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(strstr(text, "\"price\":{\"trap_ns\":6100,\"calls_per_s\":31000,"
				     "\"percent\":18.91,\"window_s\":0.2,\"calls\":6200,"
				     "\"threads\":2,\"busiest_percent\":15.0,\"slowdown\":4.0}"));
	free(text);
	report_free(report);
	sample_free(sample);
}

/* From the second report on, rows have what they have grown by, and so has the whole. */
static void test_growth(void **state)
{
	struct growth_base base = { 0 };
	const struct report_options options = { .top = 10, .base = &base };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *text;

	(void)state;
	growth_keep(&base, &sample->snapshot, 0);
	sample->sites[0].stats.alloc_bytes += 1000;
	sample->sites[1].stats.free_bytes += 250;
	report = report_build(&sample->snapshot, &options, &names);
	assert_true(report->growth.known);
	assert_int_equal(report->growth.bytes, 750);
	text = sample_render(report, "json", &plain);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(strstr(text, "\"growth_bytes\":1000,"));
	assert_non_null(strstr(text, "\"growth_bytes\":-250,"));
	free(text);
	report_free(report);
	sample_free(sample);
	growth_free(&base);
}

/* Of what is not in use, and where no collector is known, it is null. */
static void test_gcs(void **state)
{
	const struct report_options options = { .sort = SORT_ALLOC };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *text;

	(void)state;
	sample->sites[0].stats.gcs_known = true;
	sample->sites[0].stats.gcs = 5;
	sample->sites[1].stats.gcs = 6;
	sample->sites[2].stats.gcs_known = true;
	sample->sites[2].stats.free_bytes = sample->sites[2].stats.alloc_bytes;
	sample->sites[2].stats.free_objects = sample->sites[2].stats.alloc_objects;
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "json", &plain);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(strstr(text, "\"gcs\":5,"));
	assert_null(strstr(text, "\"gcs\":6"));
	assert_null(strstr(text, "\"gcs\":0"));
	free(text);
	report_free(report);
	sample_free(sample);
}

/* What is not known is null. */
static void test_process(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *text;

	(void)state;
	sample->targets[0].usage = (struct target_usage){ .known = true,
							  .rss_bytes = 432013312,
							  .swap_bytes = 4096,
							  .threads = 38,
							  .pss_bytes = 5 };
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "json", &plain);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(strstr(text, "\"process\":{\"rss_bytes\":432013312,\"pss_bytes\":null,"
				     "\"swap_bytes\":4096,\"threads\":38}"));
	free(text);
	text = sample_render(report, "text", &plain);
	assert_non_null(strstr(text, "in use\nRSS 412.0 MiB, 38 threads\n\n"));
	free(text);
	report_free(report);
	sample_free(sample);
}

/* Of several processes, text has what they have by their shares, if that of all is known. */
static void test_several_processes(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(2);
	const struct report_names names = sample_names(sample);
	struct report *report;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++)
		sample->targets[i].usage = (struct target_usage){ .known = true,
								  .rss_bytes = 50 << 20,
								  .threads = 1 + i,
								  .pss_known = true,
								  .pss_bytes = 30 << 20 };
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "text", &plain);
	assert_non_null(strstr(text, "\nRSS 100.0 MiB, PSS 60.0 MiB, 3 threads\n"));
	free(text);
	sample->targets[1].usage.pss_known = false;
	text = sample_render(report, "text", &plain);
	assert_non_null(strstr(text, "\nRSS 100.0 MiB, 3 threads\n"));
	free(text);
	/* One that has ended has none. */
	sample->targets[1].usage.known = false;
	text = sample_render(report, "text", &plain);
	assert_non_null(strstr(text, "\nRSS 50.0 MiB, PSS 30.0 MiB, 1 thread\n"));
	free(text);
	report_free(report);
	sample_free(sample);
}

static void assert_string(const char *text, const char *expected)
{
	struct buffer out = { 0 };
	struct json_writer json = { .out = &out };

	json_writer_string(&json, text);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

static void test_strings(void **state)
{
	(void)state;
	assert_string(NULL, "null");
	assert_string("", "\"\"");
	assert_string("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	assert_string("\n\t\x01\x1f\x7f", "\"\\u000a\\u0009\\u0001\\u001f\\u007f\"");
	assert_string("\xc2\x9b\xe2\x80\xae", "\"\\u009b\\u202e\"");
	/* Beyond the first plane: a tag letter. */
	assert_string("\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"");
	assert_string("caf\xc3\xa9 \xf0\x9f\x90\x9b", "\"caf\xc3\xa9 \xf0\x9f\x90\x9b\"");
	assert_string("\xff"
		      "a\xc3",
		      "\"\xef\xbf\xbd"
		      "a\xef\xbf\xbd\"");
}

static void assert_seconds(uint64_t ns, const char *expected)
{
	struct buffer out = { 0 };
	struct json_writer json = { .out = &out };

	json_writer_seconds(&json, ns);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

static void test_seconds(void **state)
{
	(void)state;
	assert_seconds(0, "0.0");
	assert_seconds(1, "0.000000001");
	assert_seconds(1500000000, "1.5");
	assert_seconds(30000000000, "30.0");
	assert_seconds(UINT64_MAX, "18446744073.709551615");
}

static void test_nesting(void **state)
{
	struct buffer out = { 0 };
	struct json_writer json = { .out = &out };

	(void)state;
	json_writer_open(&json, '[');
	json_writer_open(&json, '{');
	json_writer_close(&json, '}');
	json_writer_open(&json, '{');
	json_writer_key(&json, "a");
	json_writer_integer(&json, UINT64_MAX);
	json_writer_key(&json, "b");
	json_writer_open(&json, '[');
	json_writer_bool(&json, true);
	json_writer_null(&json);
	json_writer_close(&json, ']');
	json_writer_close(&json, '}');
	json_writer_close(&json, ']');
	assert_string_equal(out.data, "[{},{\"a\":18446744073709551615,\"b\":[true,null]}]");
	buffer_free(&out);
}

static void test_nasty_is_valid(void **state)
{
	enum { REPORTS = 150 };
	const struct render_options plain = { 0 };
	struct buffer all = { 0 };
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= REPORTS; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);

		render_format_find("json")->render(report, &plain, &all);
		report_free(report);
		nasty_free(nasty);
	}
	assert_int_equal(check_reports(all.data, all.length, ""), REPORTS);
	buffer_free(&all);
}

/* What a reader of schema 2 makes of it, which shares nothing with the writer, is schema 1 of the same report. */
static void test_schemas_are_equal(void **state)
{
	enum { REPORTS = 100 };
	const struct render_options plain = { .schema = 1 }, compact = { .schema = 2 };
	struct buffer all = { 0 };
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= REPORTS; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);

		render_format_find("json")->render(report, &plain, &all);
		render_format_find("json")->render(report, &compact, &all);
		report_free(report);
		nasty_free(nasty);
	}
	assert_int_equal(check_reports(all.data, all.length, ""), 2 * REPORTS);
	buffer_free(&all);
}

static void test_schema_2(void **state)
{
	const struct report_options options = { .only_held = true };
	const struct render_options compact = { .schema = 2 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = sample_render(report, "json", &compact);

	(void)state;
	assert_expected("server-2.json", text);
	free(text);
	report_free(report);
	sample_free(sample);
}

/* The checker must be able to say no: the expected output with one figure or one key changed. */
static void test_checker_can_fail(void **state)
{
	char *text = expected_read("server.json");
	char *at = strstr(text, "\"inuse_bytes\":51724288");

	(void)state;
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	assert_non_null(at);
	at[strlen("\"inuse_bytes\":5172428")] = '7';
	assert_int_equal(check_reports(text, strlen(text), "2>/dev/null"), -1);
	at[strlen("\"inuse_bytes\":5172428")] = '8';
	at[1] = 'I';
	assert_int_equal(check_reports(text, strlen(text), "2>/dev/null"), -1);
	free(text);
}

/* Of the five rows, three begin with code without a name. */
static void test_hints(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_nameless();
	struct report_names names = sample_names(sample);
	struct report *report;
	const char *at;
	size_t count = 0;
	char *text;

	(void)state;
	names.hint = sample_hint;
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "json", &plain);
	assert_int_equal(check_reports(text, strlen(text), ""), 1);
	for (at = text; (at = strstr(at, "\"hint\":\"")); at++)
		count++;
	assert_int_equal(count, 3);
	free(text);
	report_free(report);
	sample_free(sample);
}

static void test_formats(void **state)
{
	static const char *const names[] = { "text",	   "json",	"folded", "pprof",
					     "speedscope", "callgrind", "massif", "heaptrack",
					     "jeprof",	   "svg",	"html",	  "metrics",
					     NULL };
	const struct render_format *format = render_format_list();
	size_t i;

	(void)state;
	for (i = 0; names[i]; i++)
		assert_string_equal(format[i].name, names[i]);
	assert_null(format[i].name);
	assert_ptr_equal(render_format_find("json"), &format[1]);
	assert_null(render_format_find("JSON"));
	assert_null(render_format_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_price),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_nasty_is_valid),
		cmocka_unit_test(test_checker_can_fail),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_gcs),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_several_processes),
		cmocka_unit_test(test_schemas_are_equal),
		cmocka_unit_test(test_schema_2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
