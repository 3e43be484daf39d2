/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page for a browser: a parser of HTML, Python's, finds the elements of the template and no other whatever names there are, and the
 * JSON report in it (tests/data/render/check_page.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/memory_verdict.h"
#include "render/difference.h"
#include "render/memory.h"
#include "unit/expected.h"
#include "unit/nasty.h"
#include "unit/scratch.h"

#define LONG (1 << 20)

/* A name that ends elements and strings, in every way that is known. */
#define HOSTILE                                                                                   \
	"</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>\"'`\\&lt;]]>" \
	"\xe2\x80\xa8\xe2\x80\xa9\x01\x7f\xff\xc3${{report}}%s</style></title>"

/* What check_page.py finds: the number of sites. `ret_more`: what else the page has; free with free(). */
static int check_page(const char *page, size_t length, const char *json, char **ret_more)
{
	struct scratch scratch = scratch_make();
	char *page_path = scratch_file(&scratch, "page", page, length, 0600);
	char *json_path = scratch_file(&scratch, "json", json, strlen(json), 0600);
	char *command = memory_format("python3 tests/data/render/check_page.py %s %s", page_path,
				      json_path);
	FILE *checker = popen(command, "r");
	char *more = NULL;
	size_t size = 0;
	int count = -1;

	assert_non_null(checker);
	if (fscanf(checker, "%d\n", &count) != 1 || getline(&more, &size, checker) < 0)
		count = -1;
	if (pclose(checker))
		count = -1;
	if (ret_more)
		*ret_more = more;
	else
		free(more);
	free(command);
	free(page_path);
	free(json_path);
	scratch_remove(&scratch);
	return count;
}

/* The page of a report has its JSON. */
static int check_report(const struct report *report, char **ret_more)
{
	const struct render_options schema2 = { .schema = 2 }, plain = { 0 };
	char *json = sample_render(report, "json", &schema2);
	char *page = sample_render(report, "html", &plain);
	int count = check_page(page, strlen(page), json, ret_more);

	free(json);
	free(page);
	return count;
}

static void test_server(void **state)
{
	const struct report_options options = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *more;

	(void)state;
	assert_int_equal(check_report(report, &more), 3);
	assert_non_null(strstr(more, "\"lost\": false"));
	assert_non_null(strstr(more, "\"history\": null"));
	assert_non_null(strstr(more, "\"name\": \"free_untracked\""));
	free(more);
	report_free(report);
	sample_free(sample);
}

/* Rows are called in the page as in text: a verdict, and a region of which no line matters. */
static void test_words(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *more, *text;

	(void)state;
	sample->sites[2].region = REGION_PYTHON_ARENA;
	sample->sites[2].stats.free_bytes = sample->sites[2].stats.free_objects = 0;
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "text", &plain);
	assert_non_null(strstr(text, "CPython arenas"));
	assert_int_equal(check_report(report, &more), 3);
	assert_non_null(strstr(more, "\"lines\": [0, 0, \"CPython arenas\"]"));
	assert_non_null(strstr(more, "\"python_arena\": {\"title\": \"CPython arenas\", "
				     "\"line\": false}"));
	assert_non_null(strstr(more, "\"unknown\": \"UNCLEAR\""));
	assert_non_null(strstr(more, "\"warm-up\": \"WARM-UP\""));
	free(text);
	free(more);
	report_free(report);
	sample_free(sample);
}

/* Moments of the run's own history, of which changes are written: 100 bytes at once, the site's second ones later. */
static void test_history(void **state)
{
	struct history history = { 0 };
	const struct report_options options = { .history = &history };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct site_stats stats = { .alloc_bytes = 100, .alloc_objects = 1 };
	struct report *report;
	char *more;

	(void)state;
	assert_true(history_begin(&history, 6 * SAMPLE_SECOND));
	history_set(&history, 1, &stats);
	assert_true(history_begin(&history, 7 * SAMPLE_SECOND));
	history_set(&history, 1, &stats);
	assert_true(history_begin(&history, 9 * SAMPLE_SECOND));
	stats.alloc_bytes = 300;
	history_set(&history, 1, &stats);
	history_set(&history, 2, &stats);
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(check_report(report, &more), 3);
	assert_non_null(
		strstr(more, "\"history\": {\"times_s\": [1.0, 2.0, 4.0], "
			     "\"bytes\": [100, 100, 600], \"marks\": [], "
			     "\"sites\": [[0, [[0, 100], [2, 300]]], [1, [[2, 300]]], [2, []]]}"));
	free(more);
	report_free(report);
	sample_free(sample);
	history_free(&history);
}

/* Moments of a recording take their place. */
static void test_timeline(void **state)
{
	struct timeline timeline = { 0 };
	const struct report_options options = { .timeline = &timeline };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report;
	char *more;

	(void)state;
	timeline_begin(&timeline, 0);
	timeline_begin(&timeline, 1500000000);
	timeline_set(&timeline, 2, 7, false);
	timeline_mark(&timeline, 1, "</script>" HOSTILE);
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(check_report(report, &more), 3);
	assert_non_null(strstr(more, "\"times_s\": [0.0, 1.5], \"bytes\": [0, 7], \"marks\": "
				     "[{\"name\": \"</script></script>"));
	assert_non_null(strstr(more, "\"sites\": [[0, []], [1, [[1, 7]]], [2, []]]"));
	free(more);
	report_free(report);
	sample_free(sample);
	timeline_free(&timeline);
}

/* Hostile names everywhere, one of a megabyte. */
static void test_hostile(void **state)
{
	const struct report_options options = { 0 };
	struct sample *sample = sample_new_empty(2);
	struct function_name function = { HOSTILE, HOSTILE };
	uint32_t module = sample_module(sample, "/tmp/" HOSTILE, 1);
	struct frame frames[] = { { FRAME_NATIVE, module, 0, 1, NULL },
				  { FRAME_RUBY, MODULE_NONE, 1, 0, NULL },
				  { FRAME_ERROR, MODULE_NONE, 0, 0, HOSTILE } };
	char *name = memory_alloc(LONG + 1, 1);
	struct report_names names = sample_names(sample);
	struct report *report;
	size_t i;

	(void)state;
	for (i = 0; i < LONG; i++)
		name[i] = HOSTILE[i % (sizeof(HOSTILE) - 1)];
	sample_name(sample, name, HOSTILE, 1);
	sample_name(sample, HOSTILE, HOSTILE, 2);
	snprintf(sample->targets[0].comm, COMM_MAX, "</script><b>");
	sample->targets[0].exe = (char *)HOSTILE;
	sample->targets[0].directory = (char *)HOSTILE;
	sample_site(sample, 0, &function, sample_stack(sample, frames, 3),
		    (struct site_stats){ 1000, 1, 0, 0 });
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(check_report(report, NULL), 1);
	report_free(report);
	sample_free(sample);
	free(name);
}

static void test_nasty(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 25; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);

		assert_int_equal(check_report(report, NULL), report->site_count);
		report_free(report);
		nasty_free(nasty);
	}
}

/* Passed on in pieces, the page is the same. */
static bool take(void *context, struct buffer *out)
{
	buffer_append(context, out->data, out->length);
	buffer_clear(out);
	return true;
}

static void test_pieces(void **state)
{
	struct buffer whole = { 0 }, out = { 0 };
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 }, pieces = { .drain = take, .context = &whole };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *page = sample_render(report, "html", &plain);

	(void)state;
	render_format_find("html")->render(report, &pieces, &out);
	buffer_append(&whole, out.data, out.length);
	assert_string_equal(whole.data, page);
	buffer_free(&out);
	buffer_free(&whole);
	free(page);
	report_free(report);
	sample_free(sample);
}

/* A report on memory, with a hostile remark. */
static void test_memory(void **state)
{
	struct memory_report memory = { .process = { .pid = 7, .comm = "a</script>" } };
	const struct render_memory_options style = { 0 };
	struct buffer json = { 0 }, page = { 0 };
	char *more;

	(void)state;
	memory.parts[PURPOSE_BSS] = (struct purpose_sum){ 1, 1, 0, 4096, 1 };
	memory_report_remark(&memory, "%s", HOSTILE);
	render_memory_json(&memory, &style, &json);
	render_format_find("html")->render_memory(&memory, &style, &page);
	assert_int_equal(check_page(page.data, page.length, json.data, &more), 0);
	assert_non_null(strstr(more, "\"malloc_arena\": \"malloc: arenas\""));
	free(more);
	buffer_free(&json);
	buffer_free(&page);
	memory_report_free(&memory);
}

/* A difference of two moments without a site; tests/live/test_html.py has one with sites. */
static void test_difference(void **state)
{
	const struct profile one = { .name = (char *)HOSTILE, .wall_time = 1767225600 };
	const struct profile other = { .name = (char *)"b", .wall_time = 1767225601 };
	const struct profile *profiles[] = { &one, &other };
	struct difference *difference = difference_new(profiles, 2);
	const struct render_difference_options style = { 0 };
	struct buffer json = { 0 }, page = { 0 };

	(void)state;
	render_difference_json(difference, &style, &json);
	render_format_find("html")->render_difference(difference, &style, &page);
	assert_int_equal(check_page(page.data, page.length, json.data, NULL), 0);
	buffer_free(&json);
	buffer_free(&page);
	difference_free(difference);
}

/* Its rows are named by the frames that text names them by: a line of the application, or none. */
static void test_difference_lines(void **state)
{
	const struct report_frame frames[] = {
		{ .kind = FRAME_NATIVE, .function = "__strdup", .file = "strdup.c", .line = 42 },
		{ .kind = FRAME_NATIVE, .function = "handle", .file = "t/leak.c", .line = 13 },
	};
	const struct profile_row row = { .program = "leaky",
					 .function = "malloc",
					 .frame_count = 2,
					 .line = 1,
					 .figures = { 9, 1, 0, 0 } };
	const struct profile_row bare = { .program = "leaky", .figures = { 5, 1, 0, 0 } };
	struct profile before = { .name = "a" }, after = { .name = "b" };
	const struct profile *profiles[] = { &before, &after };
	const struct render_difference_options style = { 0 };
	struct buffer json = { 0 }, page = { 0 }, text = { 0 };
	struct difference *difference;
	char *more;

	(void)state;
	profile_add(&after, &row, frames);
	profile_add(&after, &bare, NULL);
	difference = difference_new(profiles, 2);
	render_difference_text(difference, &style, &text);
	assert_non_null(strstr(text.data, "t/leak.c:13 handle\n"));
	assert_non_null(strstr(text.data, " leaky\n"));
	render_difference_json(difference, &style, &json);
	render_format_find("html")->render_difference(difference, &style, &page);
	assert_int_equal(check_page(page.data, page.length, json.data, &more), 2);
	assert_non_null(strstr(more, "\"lines\": [1, \"leaky\"]"));
	free(more);
	buffer_free(&text);
	buffer_free(&json);
	buffer_free(&page);
	difference_free(difference);
	profile_free(&before);
	profile_free(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),	 cmocka_unit_test(test_history),
		cmocka_unit_test(test_timeline), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_nasty),	 cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_memory),	 cmocka_unit_test(test_difference),
		cmocka_unit_test(test_words),	 cmocka_unit_test(test_difference_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
