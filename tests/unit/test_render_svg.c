/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame graph: an expected output, and nasty reports read by a parser of XML (tests/data/render/check_svg.py). The bytes of its lowest
 * frames, those of processes, are what the report has in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/expected.h"
#include "unit/nasty.h"

#define LONG (1 << 20)

/* What check_svg.py finds: bytes of the lowest row, as text, since Python's numbers have no limit; and its frames. */
static int check_svg(const char *text, char bytes[64])
{
	FILE *file = tmpfile(), *checker;
	char command[96];
	int frames = -1;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	rewind(file);
	snprintf(command, sizeof(command), "python3 tests/data/render/check_svg.py <&%d",
		 fileno(file));
	checker = popen(command, "r");
	assert_non_null(checker);
	if (fscanf(checker, "%63s %d", bytes, &frames) != 2)
		frames = -1;
	if (pclose(checker))
		frames = -1;
	fclose(file);
	return frames;
}

static void test_server(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = sample_render(report, "svg", &plain);
	char bytes[64];

	(void)state;
	assert_expected("server.svg", text);
	assert_int_equal(check_svg(text, bytes), 1);
	assert_string_equal(bytes, "51724288");
	free(text);
	report_free(report);
	sample_free(sample);
}

/* Nothing is in use, and there is no process. */
static void test_nothing(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(0);
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = sample_render(report, "svg", &plain);
	char bytes[64];

	(void)state;
	assert_int_equal(check_svg(text, bytes), 0);
	assert_non_null(strstr(text, "No site holds a byte."));
	free(text);
	report_free(report);
	sample_free(sample);
}

/* What is lost is called so, and nothing is said to be in use. */
static void test_lost(void **state)
{
	const struct report_options options = { .is_lost = true };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = sample_render(report, "svg", &plain);

	(void)state;
	assert_non_null(strstr(text, ": 49.3 MiB lost</title>"));
	assert_non_null(strstr(text, "its share of the bytes lost;"));
	assert_null(strstr(text, "in use"));
	free(text);
	report_free(report);
	sample_free(sample);
}

/* A megabyte of a hostile name does not make the file as large. */
static void test_long(void **state)
{
	const struct report_options options = { 0 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(1);
	struct frame frame = { FRAME_NATIVE, MODULE_NONE, 0, 0, NULL };
	struct report_names names = sample_names(sample);
	static const char part[] = "</title><script>&'\"\xff\x01\xef\xbf\xbf;]]>";
	char *name = memory_alloc(LONG + 1, 1), *text, bytes[64];
	struct report *report;
	size_t i;

	(void)state;
	for (i = 0; i < LONG; i++)
		name[i] = part[i % (sizeof(part) - 1)];
	sample_name(sample, name, NULL, 0);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1),
		    (struct site_stats){ 77, 1, 0, 0 });
	report = report_build(&sample->snapshot, &options, &names);
	text = sample_render(report, "svg", &plain);
	assert_int_equal(check_svg(text, bytes), 1);
	assert_string_equal(bytes, "77");
	assert_true(strlen(text) < 10000);
	free(text);
	report_free(report);
	sample_free(sample);
	free(name);
}

/* Processes that are too narrow to be drawn are missing, no more; the sums of the others are as large as 64 bits have room for. */
static void test_nasty(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		const struct render_options plain = { 0 };
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		char *text = sample_render(report, "svg", &plain);
		double sum = 0, drawn;
		char bytes[64];
		size_t i;
		int frames;

		for (i = 0; i < report->site_count; i++)
			sum += (double)site_stats_inuse_bytes(&report->sites[i].stats);
		frames = check_svg(text, bytes);
		drawn = strtod(bytes, NULL);
		assert_true(frames >= (sum > 0) && frames <= 2);
		if (sum < (double)UINT64_MAX)
			assert_true(drawn <= 1.000001 * sum && drawn >= 0.999 * sum);
		free(text);
		report_free(report);
		nasty_free(nasty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_lost),   cmocka_unit_test(test_long),
		cmocka_unit_test(test_nasty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
