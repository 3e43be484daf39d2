/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of profiles are of one site, and what differs. Truth: rows that were made to be the same, or not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/difference.h"
#include "analyze/report_profile.h"
#include "recorded_run.h"
#include "recording/json_file.h"
#include "recording/json_report.h"
#include "render/difference.h"
#include "sample.h"

/* A row of one frame, and of frames that call it. */
static void add(struct profile *profile, const struct report_frame *frames, size_t count,
		uint64_t bytes, uint64_t objects)
{
	const struct profile_row row = {
		.program = "app",
		.allocator = "glibc",
		.function = "malloc",
		.frame_count = count,
		.figures = { .alloc_bytes = bytes + 5,
			     .alloc_objects = objects + 1,
			     .free_bytes = 5,
			     .free_objects = 1 },
	};

	profile_add(profile, &row, frames);
	profile_figures_add(&profile->totals, &row.figures);
}

static struct report_frame native(const char *build_id, uint64_t offset, const char *function)
{
	return (struct report_frame){ .kind = FRAME_NATIVE,
				      .module = "/srv/1/libapp.so",
				      .build_id = (char *)(uintptr_t)build_id,
				      .offset = offset,
				      .function = function };
}

static struct report_frame ruby(const char *file, uint32_t line)
{
	return (struct report_frame){
		.kind = FRAME_RUBY, .function = "Shop#add", .file = file, .line = line
	};
}

/* What becomes of two rows in two profiles: one site, or two. */
static size_t sites_of(const struct report_frame *a, size_t a_count, const struct report_frame *b,
		       size_t b_count)
{
	struct profile profiles[2] = { { .name = "a" }, { .name = "b" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	struct difference *difference;
	size_t count;

	add(&profiles[0], a, a_count, 100, 1);
	add(&profiles[1], b, b_count, 300, 3);
	difference = difference_new(pointers, 2);
	count = difference->site_count;
	if (count == 1) {
		assert_int_equal(difference->sites[0].growth_bytes, 200);
		assert_int_equal(difference->sites[0].growth_objects, 2);
		assert_int_equal(difference->sites[0].word, DIFFERENCE_GROWN);
		assert_ptr_equal(difference->sites[0].row, &profiles[1].rows[0]);
	} else {
		assert_int_equal(difference->words[DIFFERENCE_NEW], 1);
		assert_int_equal(difference->words[DIFFERENCE_GONE], 1);
	}
	assert_int_equal(difference->growth_bytes, 200);
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
	return count;
}

static size_t frames_of(struct report_frame a, struct report_frame b)
{
	return sites_of(&a, 1, &b, 1);
}

/* Where a build ID is, the file's path and names make no difference; where it is none, the path does. */
static void test_same_place(void **state)
{
	struct report_frame a = native("ab", 16, "f"), b = native("ab", 16, NULL);

	(void)state;
	b.module = "/srv/2/libapp.so.1";
	b.file = "f.c";
	assert_int_equal(frames_of(a, b), 1);
	assert_int_equal(frames_of(a, native("ab", 17, "f")), 2);
	a.build_id = b.build_id = NULL;
	assert_int_equal(frames_of(a, b), 2);
	b.module = a.module;
	assert_int_equal(frames_of(a, b), 1);
	assert_int_equal(frames_of(ruby("shop.rb", 7), ruby("shop.rb", 7)), 1);
	assert_int_equal(frames_of(ruby("shop.rb", 7), ruby("shop.rb", 8)), 2);
	assert_int_equal(frames_of(ruby("shop.rb", 7), ruby("cart.rb", 7)), 2);
	assert_int_equal(sites_of(NULL, 0, NULL, 0), 1);
}

/* Functions that were inlined at a place are not known to everybody. */
static void test_inlined(void **state)
{
	struct report_frame named[] = { native("ab", 16, "inner"), native("ab", 16, "outer") };
	struct report_frame unnamed = native("ab", 16, NULL);

	(void)state;
	named[0].inlined = true;
	assert_int_equal(sites_of(named, 2, &unnamed, 1), 1);
}

/* Another build is known by its functions, if there is only one way to do so. */
static void test_rebuilt(void **state)
{
	struct report_frame a[] = { native("ab", 16, "f"), native("ee", 99, "main") };
	struct report_frame b[] = { native("cd", 24, "f"), native("ee", 99, "main") };
	const struct report_frame other = native("cd", 32, "f");
	struct profile profiles[2] = { { .name = "a" }, { .name = "b" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	struct difference *difference;

	(void)state;
	assert_int_equal(sites_of(a, 2, b, 2), 1);
	assert_int_equal(frames_of(a[0], native("cd", 16, "g")), 2);
	assert_int_equal(frames_of(a[0], native("cd", 16, NULL)), 2);
	/* What was not built anew lies at another place. */
	b[1].offset = 98;
	assert_int_equal(sites_of(a, 2, b, 2), 2);
	/* Two rows have the names of one. */
	add(&profiles[0], a, 1, 1, 1);
	add(&profiles[1], b, 1, 1, 1);
	add(&profiles[1], &other, 1, 1, 1);
	difference = difference_new(pointers, 2);
	assert_int_equal(difference->site_count, 3);
	assert_int_equal(difference->rebuilt, 0);
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

/* Sites of several processes are one; what is equal in both comes between what has grown and what has shrunk. */
static void test_sums_and_order(void **state)
{
	struct profile profiles[2] = { { .name = "a" }, { .name = "b" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	const struct report_frame frames[] = { ruby("a.rb", 1), ruby("a.rb", 2), ruby("a.rb", 3),
					       ruby("a.rb", 4) };
	static const enum difference_word words[] = { DIFFERENCE_GROWN, DIFFERENCE_SAME,
						      DIFFERENCE_SHRUNK };
	struct difference *difference;
	size_t i;

	(void)state;
	add(&profiles[0], &frames[0], 1, 50, 1);
	add(&profiles[0], &frames[1], 1, 50, 1);
	add(&profiles[0], &frames[2], 1, 50, 1);
	add(&profiles[0], &frames[3], 1, 0, 0);
	add(&profiles[1], &frames[0], 1, 20, 1);
	add(&profiles[1], &frames[1], 1, 20, 1);
	add(&profiles[1], &frames[1], 1, 30, 0);
	add(&profiles[1], &frames[2], 1, 60, 1);
	add(&profiles[1], &frames[2], 1, 60, 1);
	difference = difference_new(pointers, 2);
	/* The last one never held anything. */
	assert_int_equal(difference->site_count, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(difference->sites[i].word, words[i]);
	assert_int_equal(difference->sites[0].growth_bytes, 70);
	assert_int_equal(difference->sites[2].growth_bytes, -30);
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

/* Reports */

static int parse(const char *text, struct profile *profile)
{
	struct error error = { 0 };
	struct buffer buffer = { 0 };
	int code;

	buffer_append_string(&buffer, text);
	code = json_report_parse(&buffer, "report", profile, &error);
	assert_true(!code == !error.text[0]);
	buffer_free(&buffer);
	return code;
}

/* What a report has is what its JSON has, by either schema. */
static void check_schema(int schema)
{
	const struct report_options options = { .top = 0 };
	const struct render_options style = { .schema = schema };
	struct profile profiles[2] = { { .name = "report" }, { .name = "read" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	struct sample *sample = sample_server();
	const struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	struct difference *difference;
	struct buffer text = { 0 };

	report_profile_fill(&profiles[0], report);
	render_format_find("json")->render(report, &style, &text);
	assert_int_equal(parse(text.data, &profiles[1]), 0);
	assert_false(profiles[1].is_part);
	assert_int_equal(profiles[1].wall_time, profiles[0].wall_time);
	assert_int_equal(profiles[1].duration_ns, profiles[0].duration_ns);
	difference = difference_new(pointers, 2);
	assert_true(difference->site_count > 1);
	assert_int_equal(difference->words[DIFFERENCE_SAME], difference->site_count);
	assert_int_equal(difference->growth_bytes, 0);
	difference_free(difference);
	buffer_free(&text);
	report_free(report);
	sample_free(sample);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

/* Names that would change a terminal are made safe, and JSON stays JSON. */
static void test_hostile_names(void **state)
{
	const struct report_options options = { .top = 0, .internal = true };
	const struct render_difference_options style = { .base = { .verbose = true,
								   .frames = RENDER_FRAMES_ALL } };
	struct profile profiles[2] = { { .name = "a\x1b" }, { .name = "b" } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	struct run *run = run_new();
	const struct report_names names = { run_lookup, run, run_hint };
	struct buffer text = { 0 }, json = { 0 };
	struct difference *difference;
	json_t *read;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct snapshot *snapshot = run_snapshot(run, i ? 60 : 5);
		struct report *report = report_build(snapshot, &options, &names);

		report_profile_fill(&profiles[i], report);
		report_free(report);
		snapshot_free(snapshot);
	}
	difference = difference_new(pointers, 2);
	render_difference_text(difference, &style, &text);
	render_difference_folded(difference, &style, &text);
	for (i = 0; i < text.length; i++)
		assert_true((unsigned char)text.data[i] >= ' ' || text.data[i] == '\n');
	render_difference_json(difference, &style, &json);
	read = json_file_last(&json, "difference", NULL);
	assert_non_null(read);
	assert_int_equal(json_array_size(json_object_get(read, "sites")), difference->site_count);
	json_decref(read);
	difference_free(difference);
	buffer_free(&text);
	buffer_free(&json);
	run_free(run);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

static void test_json_is_the_report(void **state)
{
	(void)state;
	check_schema(1);
	check_schema(2);
}

#define HEAD \
	"{\"command\":\"trace\",\"time\":\"2026-01-01T00:00:00Z\",\"totals\":{},\"targets\":[],"
#define SITE "\"source\":\"heap\",\"alloc_bytes\":7,\"alloc_objects\":1"

/* Files that no tracer has written: refused, or read without harm. */
static void test_hostile_reports(void **state)
{
	static const struct {
		const char *text;
		bool is_read;
	} cases[] = {
		{ "", false },
		{ "[]", false },
		{ "{}", false },
		{ "7", false },
		{ HEAD "\"schema\":1,\"sites\":[]}", true },
		{ HEAD "\"schema\":1,\"sites\":[]} x", false },
		{ HEAD "\"schema\":3,\"sites\":[]}", false },
		{ HEAD "\"schema\":1,\"sites\":{}}", false },
		{ HEAD "\"schema\":1,\"sites\":[],\"budget\":{}}", false },
		{ HEAD "\"schema\":1,\"sites\":[7]}", false },
		{ HEAD "\"schema\":1,\"sites\":[{" SITE "}]}", true },
		{ HEAD "\"schema\":1,\"sites\":[{" SITE ",\"frames\":[{}]}]}", false },
		{ HEAD "\"schema\":1,\"sites\":[{" SITE ",\"frames\":[{\"kind\":\"moon\"}]}]}",
		  false },
		{ HEAD "\"schema\":1,\"sites\":[{" SITE
		       ",\"frames\":[{\"kind\":\"native\",\"offset\":-1,\"line\":99999999999}]}]}",
		  true },
		{ HEAD "\"schema\":1,\"sites\":[{\"source\":\"moon\"}]}", false },
		{ HEAD "\"schema\":1,\"sites\":[{\"source\":\"heap\",\"alloc_bytes\":-7,"
		       "\"free_bytes\":9223372036854775807}]}",
		  true },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0}]}", false },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":-1}],\"calls\":[[0,0,0]],"
		       "\"strings\":[\"heap\"]}",
		  false },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0}],\"calls\":[[0,1,0]],"
		       "\"strings\":[\"heap\"]}",
		  false },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0}],\"calls\":[[0,null,null]],"
		       "\"strings\":[\"heap\"]}",
		  true },
		/* A stack that calls itself, one that is called by a later one, and a frame that is not there. */
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0,\"stack\":0}],\"calls\":[[0,0,0]],"
		       "\"strings\":[\"heap\",\"native\"],\"frames\":[[1,0,null,null,null,null,0]],"
		       "\"stacks\":[[0,0]]}",
		  false },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0,\"stack\":0}],\"calls\":[[0,0,0]],"
		       "\"strings\":[\"heap\",\"native\"],\"frames\":[[1,0,null,null,null,null,0]],"
		       "\"stacks\":[[1,0],[null,0]]}",
		  false },
		{ HEAD "\"schema\":2,\"sites\":[{\"call\":0,\"stack\":0}],\"calls\":[[0,0,0]],"
		       "\"strings\":[\"heap\"],\"stacks\":[[null,5]]}",
		  false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile profile = { .name = "x" };

		if (!parse(cases[i].text, &profile) != cases[i].is_read)
			fail_msg("%s", cases[i].text);
		profile_free(&profile);
	}
}

static int parse_lists(size_t count)
{
	struct profile profile = { .name = "x" };
	struct buffer text = { 0 };
	int code;

	buffer_append_string(&text, HEAD "\"more\":[");
	while (count--)
		buffer_append_string(&text, "[],");
	buffer_append_string(&text, "[]],\"schema\":1,\"sites\":[]}");
	code = parse(text.data, &profile);
	buffer_free(&text);
	profile_free(&profile);
	return code;
}

/* What takes far more memory than its text is refused before it has it. */
static void test_costly_text(void **state)
{
	(void)state;
	assert_int_equal(parse_lists(1000), 0);
	assert_int_not_equal(parse_lists(1000000), 0);
	assert_int_equal(parse_lists(1000), 0);
}

/* So deep, and so many frames from few bytes, as no stack is. */
static void test_deep_stacks(void **state)
{
	struct profile profile = { .name = "x" };
	struct buffer text = { 0 };
	size_t i;

	(void)state;
	buffer_append_string(&text, HEAD "\"schema\":2,\"sites\":[{\"call\":0,\"stack\":4999}],"
					 "\"calls\":[[0,0,0]],\"strings\":[\"heap\",\"native\"],"
					 "\"frames\":[[1,0,null,null,null,null,0]],"
					 "\"stacks\":[[null,0]");
	for (i = 0; i < 5000; i++)
		buffer_printf(&text, ",[%zu,0]", i);
	buffer_append_string(&text, "]}");
	assert_int_not_equal(parse(text.data, &profile), 0);
	profile_free(&profile);
	buffer_free(&text);
}

static void add_estimated(struct profile *profile, const struct report_frame *frame,
			  struct estimate since, bool known)
{
	add(profile, frame, 1, 100, 1);
	profile->rows[profile->row_count - 1].since_known = known;
	profile->rows[profile->row_count - 1].since = since;
}

/* Estimates of windows: the growth between the moments is that of the later rows, and has its limits, whatever was in use at each. */
static void test_windows(void **state)
{
	struct profile profiles[2] = { { .name = "a", .windows = true },
				       { .name = "b", .windows = true } };
	const struct profile *const pointers[] = { &profiles[0], &profiles[1] };
	const struct report_frame frames[] = { ruby("a.rb", 1), ruby("a.rb", 2), ruby("a.rb", 3),
					       ruby("a.rb", 4), ruby("a.rb", 5), ruby("a.rb", 6) };
	static const enum difference_word words[] = { DIFFERENCE_GROWN, DIFFERENCE_UNCERTAIN,
						      DIFFERENCE_UNKNOWN, DIFFERENCE_UNKNOWN,
						      DIFFERENCE_SHRUNK };
	const struct render_difference_options style = { .base = { .columns = 80 } };
	struct buffer text = { 0 }, json = { 0 };
	struct difference *difference;
	size_t i;

	(void)state;
	add(&profiles[0], &frames[0], 1, 5000, 50);
	add(&profiles[0], &frames[3], 1, 50, 1);
	/* Of two processes, as two rows. */
	add_estimated(&profiles[1], &frames[0], (struct estimate){ 1000, 970, 1040 }, true);
	add_estimated(&profiles[1], &frames[0], (struct estimate){ 500, 460, 530 }, true);
	add_estimated(&profiles[1], &frames[1], (struct estimate){ 10, -20, 40 }, true);
	add_estimated(&profiles[1], &frames[2], (struct estimate){ 7, 6, 8 }, false);
	add_estimated(&profiles[1], &frames[4], (struct estimate){ -300, -310, -200 }, true);
	/* A row of which one process is not known is not known. */
	add_estimated(&profiles[1], &frames[5], (struct estimate){ 7, 6, 8 }, true);
	add_estimated(&profiles[1], &frames[5], (struct estimate){ 0 }, false);
	difference = difference_new(pointers, 2);
	assert_int_equal(difference->site_count, 6);
	assert_int_equal(difference->words[DIFFERENCE_UNKNOWN], 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(difference->sites[i].word, words[i]);
	assert_int_equal(difference->sites[5].word, DIFFERENCE_SHRUNK);
	assert_int_equal(difference->sites[0].growth_bytes, 1500);
	/* Distances of 30 and 40 below, and 40 and 30 above. */
	assert_int_equal((int)difference->sites[0].since.low, 1450);
	assert_int_equal((int)difference->sites[0].since.high, 1550);
	assert_int_equal(difference->growth_bytes, 1210);
	render_difference_text(difference, &style, &text);
	assert_non_null(strstr(text.data, "~+1.5 KiB  +1.4 KiB to +1.5 KiB"));
	assert_non_null(strstr(text.data, "Sites: 1 grown, 1 shrunk, 1 of which neither is"));
	assert_non_null(strstr(text.data, "moments (\"?\"): 3 sites"));
	assert_null(strstr(text.data, "BEFORE"));
	render_difference_json(difference, &style, &json);
	assert_non_null(strstr(json.data, "\"change\":\"uncertain\""));
	assert_non_null(strstr(json.data, "\"growth_objects\":null"));
	assert_non_null(strstr(json.data, "\"grown_since_bytes\":null"));
	assert_non_null(strstr(json.data, "\"grown_since_bytes\":{\"value\":1500,\"mid\":1500,"
					  "\"low\":1450,\"high\":1550}"));
	buffer_free(&text);
	buffer_free(&json);
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_place),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_rebuilt),
		cmocka_unit_test(test_sums_and_order),
		cmocka_unit_test(test_json_is_the_report),
		cmocka_unit_test(test_hostile_reports),
		cmocka_unit_test(test_costly_text),
		cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
