/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folded format: an expected output, and nasty reports read the way flame graph tools read them: split
 * at the last blank, then at semicolons.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "unit/expected.h"
#include "unit/nasty.h"

static char *render(const struct report *report)
{
	const struct render_options plain = { 0 };

	return sample_render(report, "folded", &plain);
}

static void check(struct sample *sample, const char *expected)
{
	const struct report_options options = { 0 };
	struct report_names names = sample_names(sample);
	struct report *report = report_build(&sample->snapshot, &options, &names);
	char *text = render(report);

	assert_string_equal(text, expected);
	free(text);
	report_free(report);
	sample_free(sample);
}

static void test_server(void **state)
{
	char *expected = expected_read("server.folded");

	(void)state;
	check(sample_server(), expected);
	free(expected);
}

static void test_replaced_characters(void **state)
{
	struct sample *sample = sample_new_empty(2);
	uint32_t module = sample_module(sample, "/tmp/a;b\nc.so", 0);
	struct frame frames[] = {
		{ FRAME_NATIVE, MODULE_NONE, 0, 0, NULL },
		{ FRAME_NATIVE, module, 1, 0x10, NULL },
		{ FRAME_NATIVE, MODULE_NONE, 1, 0, NULL },
		{ FRAME_ERROR, MODULE_NONE, 0, 0, "cut; short" },
	};

	(void)state;
	sample_name(sample, "a;b\nc\033\xff d::e<f, g> (h) 5", NULL, 0);
	sample_name(sample, NULL, NULL, 0);
	sample_site(sample, 1, &sample_new, sample_stack(sample, frames, 4),
		    (struct site_stats){ 100, 1, 0, 0 });
	check(sample, "my worker:1;[cut: short];[unknown];a:b?c.so+0x10;"
		      "a:b?c?? d::e<f, g> (h) 5;operator new(unsigned long) 100\n");
}

/* Two sites with the same names are one line; what holds nothing, or no bytes, is none. */
static void test_merged(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct frame first[] = { { .kind = FRAME_NATIVE, .module = MODULE_NONE, .offset = 1 } };
	struct frame second[] = { { .kind = FRAME_NATIVE, .module = MODULE_NONE, .offset = 2 } };

	(void)state;
	sample->targets[0].comm[0] = '\0';
	sample_name(sample, "same", NULL, 0);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, first, 1),
		    (struct site_stats){ 100, 1, 0, 0 });
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, first, 0),
		    (struct site_stats){ 7, 1, 0, 0 });
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, second, 1),
		    (struct site_stats){ 40, 1, 8, 0 });
	sample_site(sample, 0, &sample_mmap, sample_stack(sample, second, 1),
		    (struct site_stats){ 40, 1, 40, 1 });
	sample_site(sample, 0, &sample_mmap, sample_stack(sample, second, 1),
		    (struct site_stats){ 0, 1, 0, 0 });
	check(sample, "[unknown];malloc 7\n[unknown];same;malloc 132\n");
}

/* Counts what a tool would: lines, and the sum of the values behind the last blank. */
static uint64_t read_folded(char *text, size_t *ret_lines)
{
	uint64_t sum = 0;
	char *rest, *line;

	*ret_lines = 0;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *blank = strrchr(line, ' ');
		char *end;

		assert_non_null(blank);
		assert_non_null(strchr(line, ';'));
		sum += strtoull(blank + 1, &end, 10);
		assert_true(end > blank + 1 && !*end);
		++*ret_lines;
	}
	return sum;
}

static void test_nasty_adds_up(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 500; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		char *text = render(report);
		uint64_t expected = 0;
		size_t lines, i, holding = 0;

		for (i = 0; i < report->site_count; i++) {
			uint64_t bytes = report->sites[i].stats.alloc_bytes -
					 report->sites[i].stats.free_bytes;

			expected += bytes;
			holding += bytes > 0;
		}
		assert_int_equal(read_folded(text, &lines), expected);
		assert_true(lines <= holding && (lines > 0) == (holding > 0));
		free(text);
		report_free(report);
		nasty_free(nasty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_replaced_characters),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_nasty_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
