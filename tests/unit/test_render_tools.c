/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of other tools that are text: expected outputs, and nasty reports read by the rules of each format
 * (tests/data/render/check_tools.py). The sums of their figures are the report's. The tools themselves read them in
 * tests/live/test_formats.py.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/difference.h"
#include "unit/budget_world.h"
#include "unit/expected.h"
#include "unit/gunzip.h"
#include "unit/nasty.h"

#define LONG (1 << 20)
#define SUMS 4
#define DIGITS 48
/* So many blocks are written for heaptrack. */
#define HEAPTRACK_BLOCKS 2000000

static const char *const formats[] = { "speedscope", "callgrind", "massif", "jeprof", "heaptrack" };

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* The sums that the checker finds, as text, since Python's numbers have no limit; false if the file is wrong. */
static bool check_tool(const char *format, const char *text, char sums[SUMS][DIGITS])
{
	FILE *file = tmpfile(), *checker;
	char command[96];
	bool is_right;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	rewind(file);
	snprintf(command, sizeof(command), "python3 tests/data/render/check_tools.py %s <&%d",
		 format, fileno(file));
	checker = popen(command, "r");
	assert_non_null(checker);
	is_right = fscanf(checker, "%47s %47s %47s %47s", sums[0], sums[1], sums[2], sums[3]) == 4;
	is_right &= !pclose(checker);
	fclose(file);
	return is_right;
}

static void print_sum(unsigned __int128 sum, char text[DIGITS])
{
	const uint64_t part = 1000000000000000000;

	if (sum < part)
		snprintf(text, DIGITS, "%" PRIu64, (uint64_t)sum);
	else
		snprintf(text, DIGITS, "%" PRIu64 "%018" PRIu64, (uint64_t)(sum / part),
			 (uint64_t)(sum % part));
}

/*
 * Massif has what is in use by the report's total, which stays at the limit of its counters; heaptrack likewise, at half of that, and
 * the total's blocks as long as they are few.
 */
static void limit_sums(unsigned __int128 sums[SUMS], const struct report *report,
		       const char *format)
{
	const bool is_heaptrack = !strcmp(format, "heaptrack");

	if (strcmp(format, "massif") && !is_heaptrack)
		return;
	sums[0] = site_stats_inuse_bytes(&report->totals);
	if (is_heaptrack && sums[0] > INT64_MAX)
		sums[0] = INT64_MAX;
	sums[1] = site_stats_inuse_objects(&report->totals);
	sums[3] = report->totals.alloc_objects;
	sums[2] = report->totals.lives.temporary;
	if (!is_heaptrack || sums[3] > HEAPTRACK_BLOCKS)
		sums[1] = sums[2] = sums[3] = 0;
}

static void check_report(const struct report *report, const char *format, const char *text)
{
	unsigned __int128 expected[SUMS] = { 0 };
	char sums[SUMS][DIGITS], digits[DIGITS];
	size_t i;

	for (i = 0; i < report->site_count; i++) {
		const struct site_stats *stats = &report->sites[i].stats;

		expected[0] += site_stats_inuse_bytes(stats);
		expected[1] += site_stats_inuse_objects(stats);
		expected[2] += stats->alloc_bytes;
		expected[3] += stats->alloc_objects;
	}
	limit_sums(expected, report, format);
	if (!check_tool(format, text, sums))
		fail_msg("%s is wrong:\n%.4000s", format, text);
	for (i = 0; i < SUMS; i++) {
		print_sum(expected[i], digits);
		assert_string_equal(sums[i], digits);
	}
}

/* What is expected of heaptrack's log is its head: of blocks there are too many to be read by a person. */
static void cut_log(char *text)
{
	char *log = strstr(text, "\nc 0\n");

	if (log)
		log[1] = '\0';
}

static void test_server(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char name[32], *text;
	size_t i;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		text = sample_render(report, formats[i], &plain);
		snprintf(name, sizeof(name), "server.%s", formats[i]);
		check_report(report, formats[i], text);
		cut_log(text);
		assert_expected(name, text);
		free(text);
	}
	report_free(report);
	sample_free(sample);
}

/* What is written in a format; unpacked. */
static char *lost_in(const char *format, uint64_t traced_ns)
{
	const struct report_options options = { .is_lost = true, .lost_traced_ns = traced_ns };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	struct buffer out = { 0 }, content = { 0 };
	size_t i;

	render_format_find(format)->render(report, &plain, &out);
	if (!strcmp(format, "pprof"))
		gunzip(&out, &content);
	else
		buffer_append(&content, out.data, out.length);
	for (i = 0; i < content.length; i++)
		if (!content.data[i])
			content.data[i] = ' ';
	buffer_free(&out);
	report_free(report);
	sample_free(sample);
	return content.data;
}

/* Lost blocks are called so, not in use; and a trace is named only where there was one. */
static void test_lost(void **state)
{
	static const char *const titled[] = { "callgrind", "heaptrack", "jeprof",
					      "massif",	   "pprof",	"speedscope" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(titled) / sizeof(titled[0]); i++) {
		char *found = lost_in(titled[i], 0), *traced = lost_in(titled[i], 10000000000);

		assert_non_null(strstr(found, "ruby (4242), lost blocks; nothing was traced, so "
					      "no stack is known"));
		assert_null(strstr(found, "traced for"));
		assert_non_null(strstr(traced, "ruby (4242), lost blocks; allocations were traced "
					       "for 10.0 s before"));
		assert_null(strstr(found, "in use"));
		assert_null(strstr(traced, "in use"));
		free(found);
		free(traced);
	}
}

/* Nothing is in use, and there is no process. */
static void test_nothing(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(0);
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	size_t i;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		char *text = sample_render(report, formats[i], &plain);

		check_report(report, formats[i], text);
		free(text);
	}
	report_free(report);
	sample_free(sample);
}

/* A megabyte of a hostile name, of a function that calls itself. */
static void test_long(void **state)
{
	static const char part[] =
		"</script>\n@ 0x1\nfn=(1)\r#\\n0: 7\"\x1b[2J\xff\xe2\x80\xae;--(";
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(1);
	struct frame frames[3] = { { FRAME_NATIVE, MODULE_NONE, 0, 0, NULL } };
	struct report_names names = sample_names(sample);
	char *name = memory_alloc(LONG + 1, 1), *text;
	struct report *report;
	size_t i;

	(void)state;
	for (i = 0; i < LONG; i++)
		name[i] = part[i % (sizeof(part) - 1)];
	sample_name(sample, name, "<script>\n#", 3);
	sample_name(sample, "between", NULL, 0);
	frames[1].module = frames[2].module = MODULE_NONE;
	frames[1].address = 1;
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, frames, 3),
		    (struct site_stats){ 77, 1, 0, 0 });
	report = report_build(&sample->snapshot, &options, &names);
	for (i = 0; i < FORMATS; i++) {
		text = sample_render(report, formats[i], &plain);
		check_report(report, formats[i], text);
		assert_null(strchr(text, '\x1b'));
		free(text);
	}
	report_free(report);
	sample_free(sample);
	free(name);
}

/* Counters at their limits are many lines for heaptrack: two of them will do. */
static void test_nasty(void **state)
{
	const struct render_options plain = { 0 };
	unsigned int seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);

		for (i = 0; i < FORMATS; i++) {
			char *text;

			if (seed > 2 && !strcmp(formats[i], "heaptrack"))
				continue;
			text = sample_render(report, formats[i], &plain);
			check_report(report, formats[i], text);
			free(text);
		}
		report_free(report);
		nasty_free(nasty);
	}
}

/* Two sites: 1000 bytes in 10 blocks of which 300 in 3 are freed, and, of the second process, 500 in 5. */
static struct sample *sample_two(struct snapshot_site *ret_sites[2])
{
	struct sample *sample = sample_new_empty(2);
	struct frame frame = { FRAME_NATIVE, MODULE_NONE, 0, 0, NULL };

	sample_name(sample, "serve", "serve.c", 3);
	sample_name(sample, "load", "load.c", 5);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1),
		    (struct site_stats){ 1000, 10, 300, 3 });
	frame.address = 1;
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, &frame, 1),
		    (struct site_stats){ 500, 5, 0, 0 });
	ret_sites[0] = &sample->snapshot.sites[0];
	ret_sites[1] = &sample->snapshot.sites[1];
	return sample;
}

/* The sums that a reader counts of heaptrack's log, and the text, which is to be freed. */
static char *check_heaptrack(struct sample *sample, const struct report_options *options,
			     const char *bytes, const char *blocks)
{
	const struct render_options plain = { 0 };
	const struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, options, &names);
	char *text = sample_render(report, "heaptrack", &plain), sums[SUMS][DIGITS];

	assert_true(check_tool("heaptrack", text, sums));
	assert_string_equal(sums[0], bytes);
	assert_string_equal(sums[1], blocks);
	report_free(report);
	return text;
}

/* Of several processes all are counted, and they are called so; of what is left out by --only, the sums are whole. */
static void test_heaptrack_processes(void **state)
{
	const struct report_options options = { 0 };
	struct snapshot_site *sites[2];
	struct sample *sample = sample_two(sites);
	char *text = check_heaptrack(sample, &options, "1200", "12");

	(void)state;
	assert_non_null(strstr(text, "\nX 2 processes\n"));
	assert_non_null(strstr(text, " serve\n"));
	assert_non_null(strstr(text, " load\n"));
	assert_null(strstr(text, "not listed"));
	free(text);
	sites[1]->left_out = true;
	text = check_heaptrack(sample, &options, "1200", "12");
	assert_null(strstr(text, " load\n"));
	assert_non_null(strstr(text, "[sites that are not listed]"));
	free(text);
	sample_free(sample);
}

/* What an ended program held is in no total, and so neither in the log nor in what is not listed. */
static void test_heaptrack_ended(void **state)
{
	const struct report_options options = { 0 };
	struct snapshot_site *sites[2];
	struct sample *sample = sample_two(sites);
	char *text;

	(void)state;
	sites[1]->ended = true;
	text = check_heaptrack(sample, &options, "700", "7");
	assert_null(strstr(text, " load\n"));
	assert_null(strstr(text, "not listed"));
	free(text);
	sample_free(sample);
}

/* Estimates are called so, and the log has what is estimated: a leak of 40,000 bytes per second for a minute, and not what windows recorded. */
static void test_heaptrack_budget(void **state)
{
	const struct world_blocks leak = {
		.key = 7, .size = 104, .per_window = 20, .never = 1, .life_s = 1
	};
	struct budget_report *report = world_new(10);
	struct snapshot_site *sites[2];
	struct sample *sample = sample_two(sites);
	struct budget_estimates *estimates;
	struct report_options options = { 0 };
	char bytes[DIGITS], blocks[DIGITS], *text;

	(void)state;
	world_add_size(world_add_heap(report), 104, 40000, 0);
	world_add(report, &leak);
	sites[0]->key = 7;
	sites[1]->key = 8;
	estimates = budget_estimates_new(report);
	budget_estimates_apply(estimates, &sample->snapshot);
	options.estimates = estimates;
	assert_in_range(site_stats_inuse_bytes(&sites[0]->stats), 1000000, 4000000);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, site_stats_inuse_bytes(&sites[0]->stats));
	snprintf(blocks, sizeof(blocks), "%" PRIu64, site_stats_inuse_objects(&sites[0]->stats));
	text = check_heaptrack(sample, &options, bytes, blocks);
	assert_non_null(strstr(text, "# ~ estimated from windows of tracing (--budget)"));
	assert_non_null(strstr(text, " serve\n"));
	free(text);
	budget_estimates_free(estimates);
	budget_report_free(report);
	sample_free(sample);
}

/* From 100 bytes to 40, and what is new: no number is below 0. */
static void test_difference(void **state)
{
	static const char *const expected[SUMS] = { "70", "7", "60", "1" };
	const struct report_frame frame = { .function = "serve", .file = "serve.c", .line = 3 };
	const struct report_frame other = { .function = "fresh" };
	const struct render_difference_options options = { 0 };
	struct profile profiles[2] = { { .name = "a" }, { .name = "b\n" } };
	const struct profile *pointers[2] = { &profiles[0], &profiles[1] };
	struct profile_row row = { .program = "ruby",
				   .allocator = "glibc",
				   .function = "malloc",
				   .frame_count = 1,
				   .figures = { 300, 3, 200, 1 } };
	struct difference *difference;
	char sums[SUMS][DIGITS];
	size_t i, n;

	(void)state;
	profile_add(&profiles[0], &row, &frame);
	row.figures = (struct profile_figures){ 340, 5, 300, 4 };
	profile_add(&profiles[1], &row, &frame);
	row.figures = (struct profile_figures){ 70, 7, 0, 0 };
	profile_add(&profiles[1], &row, &other);
	difference = difference_new(pointers, 2);
	for (i = 0; i < FORMATS; i++) {
		const struct render_format *format = render_format_find(formats[i]);
		struct buffer out = { 0 };

		if (!format->render_difference)
			continue;
		format->render_difference(difference, &options, &out);
		assert_true(check_tool(formats[i], out.data, sums));
		for (n = 0; n < SUMS; n++)
			assert_string_equal(sums[n], expected[n]);
		buffer_free(&out);
	}
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_nasty),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_heaptrack_processes),
		cmocka_unit_test(test_heaptrack_ended),
		cmocka_unit_test(test_heaptrack_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
