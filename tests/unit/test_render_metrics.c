/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics format: an expected output, its sums, and nasty reports read by an independent parser of the format, written in Python by
 * its specification (tests/data/render/check_metrics.py).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>

#include "unit/expected.h"
#include "unit/nasty.h"

#define METRICS_CHECKER "python3 tests/data/render/check_metrics.py"

static char *metrics_of(struct sample *sample, const struct report_options *options)
{
	const struct render_options plain = { 0 };
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, options, &names);
	char *text = sample_render(report, "metrics", &plain);

	report_free(report);
	return text;
}

/* Ids are of rows that were grouped; here they are numbers. */
static void set_ids(struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->snapshot.site_count; i++)
		sample->sites[i].id = 0xabc0 + i;
}

static void check_metrics(const char *text, const char *where, bool good)
{
	char command[128];
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	rewind(file);
	snprintf(command, sizeof(command), METRICS_CHECKER " <&%d %s", fileno(file), where);
	assert_int_equal(system(command) == 0, good);
	fclose(file);
}

static void test_server(void **state)
{
	const struct report_options options = { .top = 1 };
	struct sample *sample = sample_server();
	char *text;

	(void)state;
	set_ids(sample);
	sample->targets[0].usage = (struct target_usage){
		.known = true, .rss_bytes = 104857600, .swap_bytes = 4096, .threads = 7
	};
	sample->snapshot.price = (struct price){ .counted = true,
						 .window_ns = 200000000,
						 .calls = 6200,
						 .threads = 2,
						 .measured = true,
						 .cost_ns = 37820000,
						 .call_ns = 6100 };
	text = metrics_of(sample, &options);
	check_metrics(text, "", true);
	assert_expected("server.prom", text);
	free(text);
	sample_free(sample);
}

/* What is listed and the rest are the total, whatever is listed. */
static void test_rest(void **state)
{
	const uint64_t inuse = 52428800 - 1228800 + 1048576 - 524288;
	struct report_options options = { 0 };
	struct sample *sample = sample_server();
	uint64_t sum, number;
	char *text, *line, *place, *value;

	(void)state;
	set_ids(sample);
	for (options.top = 0; options.top < 3; options.top++) {
		sum = 0;
		text = metrics_of(sample, &options);
		for (line = strtok_r(text, "\n", &place); line;
		     line = strtok_r(NULL, "\n", &place)) {
			value = strrchr(line, ' ');
			if (strncmp(line, "tracer_site_inuse_bytes{", 24) != 0)
				continue;
			assert_int_equal(sscanf(value, "%" SCNu64, &number), 1);
			sum += number;
		}
		assert_true(sum == inuse);
		free(text);
	}
	sample_free(sample);
}

/* A sample's figures are marked as such. */
static void test_sampled(void **state)
{
	const struct report_options options = { 0 };
	struct sample *sample = sample_server_sampled();
	char *text;

	(void)state;
	set_ids(sample);
	text = metrics_of(sample, &options);
	check_metrics(text, "", true);
	assert_non_null(strstr(text, "quality=\"sampled\"} 51200000\n"));
	free(text);
	sample_free(sample);
}

/* More processes than have series of their own are one. */
static void test_many_processes(void **state)
{
	enum { MANY = 1000 };
	static struct target targets[MANY];
	static const struct target *pointers[MANY];
	const struct report_options options = { 0 };
	struct sample *sample = sample_server();
	size_t i, lines = 0;
	char *text, *at;

	(void)state;
	set_ids(sample);
	for (i = 0; i < MANY; i++) {
		targets[i] = sample->targets[0];
		targets[i].pid = 10000 + (int)i;
		targets[i].usage =
			(struct target_usage){ .known = true, .rss_bytes = 4096 * (i + 1) };
		pointers[i] = &targets[i];
	}
	sample->snapshot.targets = pointers;
	sample->snapshot.target_count = MANY;
	text = metrics_of(sample, &options);
	check_metrics(text, "", true);
	for (at = text; (at = strstr(at, "\ntracer_process_resident_bytes{")); at++)
		lines++;
	assert_int_equal(lines, 201);
	/* 4096 * (1 + ... + 800): the 200 with most have their own. */
	assert_non_null(strstr(text, "tracer_process_resident_bytes{pid=\"other\",comm=\"\","
				     "quality=\"counted\"} 1312358400\n"));
	assert_non_null(strstr(text, "\ntracer_processes 1000\n"));
	free(text);
	sample_free(sample);
}

/* The checker itself refuses what is wrong. */
static void test_checker(void **state)
{
	static const char *const wrong[] = {
		"a 1\n",
		"# HELP a x\n# TYPE a gauge\na{b=\"\n\"} 1\n",
		"# HELP a x\n# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n",
		"# HELP a x\n# TYPE a counter\na -1\n",
		"# HELP a x\n# TYPE a gauge\na{b=\"\\x\"} 1\n",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_metrics(wrong[i], "2>/dev/null", false);
}

static void test_nasty(void **state)
{
	struct buffer all = { 0 };
	unsigned int seed;

	(void)state;
	for (seed = 0; seed < 200; seed++) {
		const struct render_options plain = { 0 };
		struct nasty *nasty = nasty_new(seed);
		struct report *report;
		char *text;

		set_ids(nasty->sample);
		/* No two processes that run have one pid. */
		nasty->sample->targets[1].pid = nasty->sample->targets[0].pid + 1;
		report = nasty_report(nasty);
		text = sample_render(report, "metrics", &plain);
		buffer_printf(&all, "%s# EOF\n", text);
		free(text);
		report_free(report);
		nasty_free(nasty);
	}
	check_metrics(all.data, "", true);
	buffer_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),	cmocka_unit_test(test_rest),
		cmocka_unit_test(test_sampled), cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_checker), cmocka_unit_test(test_nasty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
