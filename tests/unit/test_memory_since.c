/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An earlier report, read again. Truth: the report that was written, and files that nobody would write. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "verdict/memory_growth.h"
#include "memory/memory_since.h"
#include "render/memory.h"

#define HEAD "{\"schema\":1,\"command\":\"memory\",\"time\":\"2026-01-01T00:00:00Z\","
#define EPOCH 1767225600

static void fill(struct memory_report *report, uint64_t scale)
{
	struct memory_runtime *runtime;
	struct memory_class *class;

	report->process = (struct memory_process){ .pid = 42, .comm = "puma", .start_ticks = 77 };
	report->wall_time = EPOCH;
	report->parts[PURPOSE_RUBY_HEAP] =
		(struct purpose_sum){ scale << 20, 1, 2, scale << 21, 3 };
	*memory_report_add_heap(report) = (struct heap_totals){ .allocator = "glibc",
								.live_blocks = 10 * scale,
								.live_bytes = 1000 * scale };
	*memory_report_add_kind(report) = (struct memory_kind){ .kind = "class",
								.name = "app::Req",
								.holder = "",
								.size = 64,
								.born = HEAP_UNKNOWN,
								.blocks = scale,
								.bytes = 64 * scale };
	runtime = memory_report_add_runtime(report);
	runtime->name = "ruby";
	class = memory_runtime_add_class(runtime);
	class->name = "Session";
	class->live = 5 * scale;
	class->slot_bytes = 200 * scale;
}

static int parse(const char *text, struct memory_report *report)
{
	struct buffer buffer = { 0 };
	struct error error = { 0 };
	int code;

	buffer_append_string(&buffer, text);
	code = memory_since_parse(&buffer, report, &error);
	assert_true(!code == !error.text[0]);
	buffer_free(&buffer);
	return code;
}

/* What was written is what is read; of two the last. */
static void test_round_trip(void **state)
{
	const struct render_memory_options style = { .top = 0 };
	struct memory_report old = { 0 }, last = { 0 }, read = { 0 }, now = { 0 };
	struct buffer text = { 0 };

	(void)state;
	fill(&old, 1);
	fill(&last, 2);
	fill(&now, 7);
	render_memory_json(&old, &style, &text);
	render_memory_json(&last, &style, &text);
	assert_int_equal(memory_since_parse(&text, &read, NULL), 0);
	now.wall_time += 3600;
	assert_int_equal(memory_since_compare(&now, &read, NULL), 0);
	assert_true(now.since_ns == 3600000000000ull);
	assert_non_null(strstr(now.remarks.data, "1h"));
	assert_null(strstr(now.remarks.data, "another process"));
	memory_growth_find(&now, &read);
	assert_int_equal(now.parts_before[PURPOSE_RUBY_HEAP].rss, 2 << 20);
	assert_int_equal(now.heaps[0].growth_blocks, 50);
	assert_int_equal(now.heaps[0].growth_bytes, 5000);
	assert_int_equal(now.kinds[0].growth_blocks, 5);
	assert_int_equal(now.runtimes[0].classes[0].growth_objects, 25);
	assert_int_equal(now.runtimes[0].classes[0].growth_bytes, 1000);
	buffer_free(&text);
	memory_report_free(&old);
	memory_report_free(&last);
	memory_report_free(&read);
	memory_report_free(&now);
}

/* Another process, no objects, a time to come. */
static void test_doubts(void **state)
{
	struct memory_report read = { 0 }, now = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(parse(HEAD "\"parts\":[],\"targets\":[{\"pid\":42,\"comm\":\"puma\","
				    "\"start_ticks\":78}],\"objects\":[{\"runtime\":\"ruby\","
				    "\"classes\":[]}]}",
			       &read),
			 0);
	fill(&now, 1);
	assert_int_equal(memory_since_compare(&now, &read, NULL), 0);
	assert_true(now.since_ns == 1);
	assert_non_null(strstr(now.remarks.data, "another process, puma (42)"));
	assert_non_null(strstr(now.remarks.data, "no objects of ruby"));
	memory_growth_find(&now, &read);
	assert_int_equal(now.runtimes[0].classes[0].growth_objects, 0);
	now.wall_time--;
	assert_true(memory_since_compare(&now, &read, &error) < 0);
	assert_int_equal(error.kind, ERROR_USAGE);
	memory_report_free(&read);
	memory_report_free(&now);
}

static void test_numbers_have_bounds(void **state)
{
	struct memory_report read = { 0 };
	const struct purpose_sum *part = &read.parts[PURPOSE_CODE];

	(void)state;
	assert_int_equal(parse(HEAD "\"parts\":[{\"purpose\":\"code\",\"rss_bytes\":"
				    "9223372036854775807,\"pss_bytes\":-1,\"swap_bytes\":1.5,"
				    "\"mapped_bytes\":null},{\"purpose\":\"nothing\"},7],"
				    "\"malloc\":[{},{\"allocator\":3}],\"kinds\":[null],"
				    "\"objects\":7,\"targets\":{}}",
			       &read),
			 0);
	assert_true(part->rss == 1ull << 56 && !part->pss && !part->swap && !part->mapped);
	assert_int_equal(read.heap_count + read.kind_count + read.runtime_count, 0);
	memory_report_free(&read);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" \n",
		"{",
		"7",
		"[1,2",
		"{}",
		HEAD "\"parts\":[]",
		"{\"schema\":1,\"command\":\"memory\",\"time\":\"yesterday\",\"parts\":[]}",
		"{\"schema\":2,\"command\":\"memory\",\"time\":\"2026-01-01T00:00:00Z\","
		"\"parts\":[]}",
		"{\"schema\":1,\"command\":\"trace\",\"time\":\"2026-01-01T00:00:00Z\","
		"\"parts\":[]}",
		HEAD "\"parts\":[],\"targets\":[{\"comm\":\"\\u0000\"}]}",
		HEAD "\"parts\":[99999999999999999999999]}",
	};
	struct memory_report read;
	char deep[100001];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read = (struct memory_report){ 0 };
		assert_true(parse(texts[i], &read) < 0);
		memory_report_free(&read);
	}
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	read = (struct memory_report){ 0 };
	assert_true(parse(deep, &read) < 0);
	memory_report_free(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_numbers_have_bounds),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
