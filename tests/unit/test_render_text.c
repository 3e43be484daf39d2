/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text format: expected outputs, and that no report, however nasty, is wider than 80 columns or drives
 * the terminal. Widths are judged by wcwidth() of the C library.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <locale.h>
#include <wchar.h>
#include <wctype.h>
#include <cmocka.h>

#include "model/source.h"
#include "render/columns.h"
#include "render/text_place.h"
#include "unit/expected.h"
#include "unit/nasty.h"

static char *render(struct sample *sample, const struct report_options *options,
		    const struct render_options *render_options)
{
	struct report_names names = sample_names(sample);
	struct report_options wanted = *options;
	static const struct frame_rules rules;
	struct report *report;
	char *text;

	names.hint = sample_hint;
	wanted.lines = true;
	wanted.judge = judge_new(&sample->snapshot, &rules, &names);
	report = report_build(&sample->snapshot, &wanted, &names);
	text = sample_render(report, "text", render_options);
	report_free(report);
	judge_free(wanted.judge);
	return text;
}

static void check_output(const char *name, struct sample *sample,
			 const struct report_options *options,
			 const struct render_options *render_options)
{
	char *text = render(sample, options, render_options);

	assert_expected(name, text);
	free(text);
	sample_free(sample);
}

static void test_server(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options plain = { 0 };

	(void)state;
	check_output("server.txt", sample_server(), &options, &plain);
}

/* One hint for each file, below the first row that wants it. */
static void test_hints(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options plain = { 0 };

	(void)state;
	check_output("hints.txt", sample_nameless(), &options, &plain);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* Remarks count as lines of the screen, one of which is left for the prompt: of realloc, and of what may have names. */
static void test_remarks_fit(void **state)
{
	const struct report_options options = { .top = 10 };
	size_t lines, width;

	(void)state;
	for (width = 60; width <= 100; width += 10)
		for (lines = 24; lines <= 40; lines++) {
			struct sample *sample = sample_nameless();
			char *text;
			size_t i;

			for (i = 0; i < 5; i++) {
				sample->sites[i].stats.grown_objects = 1;
				sample->sites[i].stats.grown_times = 14;
				sample->sites[i].stats.added_objects = 1;
				sample->sites[i].stats.unknown_objects = 1;
			}
			text = render(sample, &options,
				      &(struct render_options){ .columns = width, .lines = lines });
			if (count_lines(text) > lines - 1)
				fail_msg("%zu of %zu lines:\n%s", count_lines(text), lines, text);
			free(text);
			sample_free(sample);
		}
}

static void test_samples(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server_sampled();

	(void)state;
	sample->snapshot.target_count = 2;
	check_output("sampled.txt", sample, &options, &plain);
}

static void test_server_verbose(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options verbose = { .verbose = true, .paths = true };

	(void)state;
	check_output("server-verbose.txt", sample_server(), &options, &verbose);
}

/* A terminal's width is used, and not passed; without one it is 80. */
static void test_widths(void **state)
{
	const struct report_options options = { .top = 10 };

	(void)state;
	check_output("server.txt", sample_server(), &options,
		     &(struct render_options){ .columns = 80 });
	check_output("server-60.txt", sample_server(), &options,
		     &(struct render_options){ .columns = 60 });
	check_output("server-200.txt", sample_server(), &options,
		     &(struct render_options){ .columns = 200, .lines = 50 });
}

/* --frames counts the frames of each stack; the line of the application is always one. */
static void test_frames(void **state)
{
	const struct report_options options = { .top = 10 };

	(void)state;
	check_output("frames.txt", sample_server(), &options,
		     &(struct render_options){ .frames = 2 });
}

/* So they are with -v, which shows those of all rows. */
static void test_frames_verbose(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options verbose = { .frames = 1, .verbose = true };
	struct sample *sample = sample_server();
	struct frame frames[5];
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		frames[i] = (struct frame){ FRAME_NATIVE, 0, i % 3, 100 + i, NULL };
	for (i = 0; i < 3; i++)
		sample_site(sample, 0, &sample_malloc, sample_stack(sample, frames + i, 5 - i),
			    (struct site_stats){ 1000 - i, 1, 0, 0 });
	text = render(sample, &options, &verbose);
	assert_non_null(strstr(text, "\n  5  malloc"));
	assert_non_null(strstr(text, " more frames (--frames 0 shows all)\n"));
	assert_null(strstr(text, "-v shows all"));
	assert_null(strstr(text, "parser/parser.cc:88\n"));
	free(text);
	sample_free(sample);
}

/* The second report has what grew and what is new. */
static void test_growth(void **state)
{
	struct growth_base base = { 0 };
	const struct report_options options = { .top = 10, .base = &base };
	const struct render_options color = { .color = true };
	struct sample *sample = sample_server();

	(void)state;
	sample->sites[1].stats.free_bytes = sample->sites[1].stats.alloc_bytes;
	sample->sites[1].stats.free_objects = sample->sites[1].stats.alloc_objects;
	growth_keep(&base, &sample->snapshot, 0);
	sample->sites[0].stats.alloc_bytes += 1310720;
	sample->sites[0].stats.alloc_objects += 1280;
	sample->sites[1].stats.alloc_bytes += 131072;
	sample->sites[1].stats.alloc_objects += 512;
	sample->snapshot.time_ns += 5 * SAMPLE_SECOND;
	check_output("growth.txt", sample, &options, &color);
	growth_free(&base);
}

/* Of processes with a garbage collector, how many collections the oldest block of a row has outlived. */
static void test_collections(void **state)
{
	const struct report_options options = { .top = 10 };
	struct sample *sample = sample_server();

	(void)state;
	sample->sites[0].stats.gcs_known = sample->sites[1].stats.gcs_known = true;
	sample->sites[0].stats.gcs = 12;
	check_output("collections.txt", sample, &options,
		     &(struct render_options){ .columns = 80 });
}

/* What held nothing and holds nothing is not new, where such rows are listed. */
static void test_growth_of_nothing(void **state)
{
	struct growth_base base = { 0 };
	const struct report_options options = { .sort = SORT_ALLOC, .base = &base };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_new_empty(1);
	char *text;

	(void)state;
	growth_keep(&base, &sample->snapshot, 0);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 4000, 4, 4000, 4 });
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 1000, 1, 0, 0 });
	text = render(sample, &options, &plain);
	assert_non_null(strstr(text, "1     0 B        0  "));
	assert_non_null(strstr(text, "2  1000 B      new  "));
	free(text);
	sample_free(sample);
	growth_free(&base);
}

/* Of forty frames few are shown, and what stacks have in common once. */
static void test_deep(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options plain = { .lines = 24 }, verbose = { .verbose = true };
	struct sample *sample = sample_server();
	struct frame frames[40];
	char *text;
	uint32_t i;

	(void)state;
	for (i = 0; i < 40; i++)
		frames[i] = (struct frame){ FRAME_NATIVE, 0, i % 3, 100 + i, NULL };
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, frames, 40),
		    (struct site_stats){ 123456789, 7, 0, 0 });
	frames[4].offset = 1;
	frames[4].address = 2;
	sample_site(sample, 0, &sample_new, sample_stack(sample, frames, 40),
		    (struct site_stats){ 23456789, 77, 1000000, 7 });
	text = render(sample, &options, &verbose);
	assert_expected("deep-verbose.txt", text);
	free(text);
	check_output("deep.txt", sample, &options, &plain);
}

/* How much is left out fits the width. */
static void test_limits_fit(void **state)
{
	const struct report_options options = {
		.top = 10, .survived = 64, .without_young = true, .min_age_ns = SAMPLE_SECOND
	};
	const struct render_options narrow = { .columns = 60 };
	struct sample *sample = sample_server();
	char *text = render(sample, &options, &narrow), *line, *rest;

	(void)state;
	assert_non_null(strstr(text, "\nOnly blocks that have outlived 64 major "));
	assert_non_null(strstr(text, "\nOnly blocks that are at least 1.0 s old "));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_in_range(strlen(line), 1, 60);
	free(text);
	sample_free(sample);
}

/* A row without frames below one that has some: nothing of it is as in the other. */
static void test_row_without_frames(void **state)
{
	const struct report_options options = { .top = 10 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct frame frames[3];
	char *text;
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		frames[i] = (struct frame){ FRAME_NATIVE, 0, i, 100 + i, NULL };
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, frames, 3),
		    (struct site_stats){ 223456789, 7, 0, 0 });
	sample_site(sample, 0, &sample_mmap, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 123456789, 7, 0, 0 })
		->region = REGION_RUBY_HEAP;
	text = render(sample, &options, &plain);
	assert_non_null(strstr(text, "\n  2  Ruby heap pages (heap)"));
	/* The command that looks inside. */
	assert_non_null(strstr(text, "\n     inside: tracer memory -p 4242 --objects\n  3  "));
	free(text);
	sample->targets[0].exited = true;
	text = render(sample, &options, &plain);
	assert_null(strstr(text, "tracer memory"));
	sample->targets[0].exited = false;
	sample->sites[sample->snapshot.site_count - 1].region = REGION_V8_HEAP;
	free(text);
	text = render(sample, &options, &(struct render_options){ .columns = 60 });
	assert_non_null(strstr(text, "\n     inside: tracer memory -p 4242\n"));
	free(text);
	sample_free(sample);
}

static void test_losses_and_rest(void **state)
{
	const struct report_options options = { .top = 1,
						.without_young = true,
						.min_age_ns = SAMPLE_SECOND };
	const struct render_options color = { .color = true };
	struct sample *sample = sample_server();

	(void)state;
	sample->targets[0].exited = true;
	sample->snapshot.loss[LOSS_BLOCKS_FULL] = 1007;
	sample->snapshot.loss[LOSS_RETURNS_UNMATCHED] = 3;
	sample->snapshot.loss[LOSS_STACK_TRUNCATED] = 88;
	sample->snapshot.loss[LOSS_BYTES_UNATTRIBUTED] = 70000;
	check_output("losses.txt", sample, &options, &color);
}

/* Two processes, all sites, a stack of 40 frames, and one whose site holds nothing. */
static void test_two_processes(void **state)
{
	const struct report_options options = { .sort = SORT_ALLOC };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct frame frames[40];
	uint32_t i;

	(void)state;
	for (i = 0; i < 40; i++)
		frames[i] = (struct frame){ FRAME_NATIVE, 0, i % 3, i, NULL };
	sample->snapshot.target_count = 2;
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, frames, 40),
		    (struct site_stats){ 7, 7, 0, 0 });
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 0, 1, 0, 0 });
	check_output("two-processes.txt", sample, &options, &plain);
}

/* What an ended program held is marked, has a sum of its own and no share. */
static void test_ended(void **state)
{
	const struct report_options options = { .top = 1 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	char *text;

	(void)state;
	sample->sites[0].ended = true;
	text = render(sample, &options, &plain);
	if (!strstr(text, "1   48.8 MiB   ended  50,000     2%  29.8 s  ") ||
	    !strstr(text, "   512.0 KiB       -   2,048    ") ||
	    !strstr(text, "    48.8 MiB   ended  50,000     2%  29.8 s  ended programs\n"))
		fail_msg("%s", text);
	free(text);
	sample_free(sample);
}

/* Descriptors have a line where there are more than at the attach. */
static void test_open_files(void **state)
{
	const struct report_options options = { .top = 1 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	struct target *first = &sample->targets[0], *second = &sample->targets[1];
	char *text;

	(void)state;
	first->files_known = true;
	first->files_first = first->files = 12;
	text = render(sample, &options, &plain);
	assert_null(strstr(text, "open files"));
	free(text);
	first->files = 7;
	text = render(sample, &options, &plain);
	assert_null(strstr(text, "open files"));
	free(text);
	first->files = 1043;
	text = render(sample, &options, &plain);
	assert_non_null(strstr(text, "\nopen files: 1,043, 1,031 more than at the attach\n"));
	free(text);
	sample->snapshot.target_count = 2;
	second->files_known = true;
	second->files_first = 1;
	second->files = 2;
	text = render(sample, &options, &plain);
	if (!strstr(text,
		    "\nopen files: ruby (4242) has 1,043, 1,031 more than at the attach; 1 other\n"
		    "  process has more, too\n"))
		fail_msg("%s", text);
	free(text);
	sample_free(sample);
}

/* A long name and a pid of seven digits: no word of the opening may be lost but the clock. */
static void test_opening_fits(void **state)
{
	const struct report_options options = { .top = 1 };
	const struct render_options plain = { 0 };
	struct sample *sample = sample_server();
	char *text;

	(void)state;
	strcpy(sample->targets[0].comm, "sidekiq-worker1");
	sample->targets[0].pid = 4194304;
	sample->targets[0].exited = true;
	sample->snapshot.start_ns = 0;
	sample->snapshot.time_ns = 86420000 * SAMPLE_SECOND;
	sample->sites[0].stats.alloc_bytes = 1010ULL << 30;
	text = render(sample, &options, &plain);
	*strchr(text, '\n') = '\0';
	assert_string_equal(text, "sidekiq-worker1 (4194304, exited) traced for 1000d05h: "
				  "1010.0 GiB in use");
	free(text);
	sample_free(sample);
}

static void assert_opening_says(struct sample *sample, uint64_t min_age_ns, const char *expected)
{
	const struct report_options options = { .top = 0,
						.without_young = min_age_ns,
						.min_age_ns = min_age_ns };
	const struct render_options plain = { 0 };
	char *text = render(sample, &options, &plain);

	if (!strstr(text, expected))
		fail_msg("\"%s\" is not in:\n%s", expected, text);
	assert_null(strstr(text, "WHERE"));
	free(text);
	sample_free(sample);
}

static void test_nothing_in_use(void **state)
{
	struct sample *sample;

	(void)state;
	assert_opening_says(sample_new_empty(1), 0,
			    "00:00:00 ruby (4242) traced for 30.0 s: nothing in use\n\n"
			    "Nothing is in use: no allocation was recorded.\n\n");
	sample = sample_new_empty(1);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 100, 1234, 100, 1234 });
	assert_opening_says(sample, 0, "Nothing is in use: recorded 1,234 blocks, all freed.");
	sample = sample_new_empty(1);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 100, 10, 10, 1 })
		->stats.young_objects = 9;
	sample->sites[0].stats.young_bytes = 90;
	assert_opening_says(sample, SAMPLE_SECOND,
			    "Nothing is in use: of 9 blocks held, none is as old as 1.0 s.");
}

/* Every line fits, is text in UTF-8, and has no control character but what --color asked for. */
static void assert_fits(const char *text, size_t columns, unsigned int seed)
{
	const char *end = text + strlen(text);
	mbstate_t shift = { 0 };
	size_t used = 0;
	wchar_t wide;

	while (*text) {
		size_t length = mbrtowc(&wide, text, (size_t)(end - text), &shift);

		if (length == (size_t)-1 || length == (size_t)-2)
			fail_msg("seed %u: not UTF-8: %s", seed, text);
		text += length;
		if (wide == '\n') {
			used = 0;
			continue;
		}
		if (iswcntrl((wint_t)wide) || (wide >= 0x202a && wide <= 0x202e))
			fail_msg("seed %u: control character U+%04X", seed, (unsigned int)wide);
		used += wcwidth(wide) < 0 ? 1 : (size_t)wcwidth(wide);
		if (used > columns)
			fail_msg("seed %u: wider than %zu columns before: %s", seed, columns, text);
	}
}

static void test_nasty_fits(void **state)
{
	static const size_t widths[] = { 0, 60, 61, 80, 200 };
	struct render_options plain = { 0 };
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 250; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		char *text;

		plain.columns = widths[seed % 5];
		plain.verbose = seed % 3 == 0;
		plain.frames = seed % 7;
		plain.lines = seed % 2 ? 0 : seed;
		text = sample_render(report, "text", &plain);
		assert_fits(text, plain.columns ? plain.columns : 80, seed);
		free(text);
		report_free(report);
		nasty_free(nasty);
	}
}

/* What allocated for a row, of a site's frames, in each width that the table may have for it. */
static void assert_leaves_fit(const struct report_site *site, unsigned int seed)
{
	struct report_leaf leaves[3] = { 0 };
	struct report_site row = { .leaves = leaves, .leaves_more = seed };
	struct buffer text = { 0 };
	size_t width;

	row.source = seed % 2 ? SOURCE_MMAP : SOURCE_HEAP;
	for (; row.leaf_count < 3 && row.leaf_count < site->frame_count; row.leaf_count++)
		leaves[row.leaf_count].frame = site->frames[row.leaf_count];
	for (width = 0; width < 40; width++) {
		buffer_clear(&text);
		text_place_append_via(&text, &row, width);
		assert_fits(text.data, width, seed);
	}
	buffer_free(&text);
}

static void test_nasty_leaves_fit(void **state)
{
	struct report_site site;
	unsigned int seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 250; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);

		for (i = 0; i < report->site_count; i++) {
			site = report_open_site(report, i);
			assert_leaves_fit(&site, seed);
			report_close_site(&site);
		}
		report_free(report);
		nasty_free(nasty);
	}
}

static void test_nasty_verbose_is_safe(void **state)
{
	const struct render_options verbose = { .verbose = true, .paths = true };
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 100; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		char *text = sample_render(report, "text", &verbose);

		assert_fits(text, SIZE_MAX, seed);
		free(text);
		report_free(report);
		nasty_free(nasty);
	}
}

static void assert_columns(size_t (*append)(struct buffer *, const char *, size_t),
			   const char *text, size_t width, const char *expected)
{
	struct buffer out = { 0 };

	buffer_append_string(&out, "");
	assert_int_equal(append(&out, text, width), columns_of(expected));
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

static void test_cut(void **state)
{
	(void)state;
	assert_columns(columns_append_start, "abcdefgh", 8, "abcdefgh");
	assert_columns(columns_append_start, "abcdefgh", 7, "abcd...");
	assert_columns(columns_append_end, "abcdefgh", 8, "abcdefgh");
	assert_columns(columns_append_end, "abcdefgh", 7, "...efgh");
	assert_columns(columns_append_start, "abcdefgh", 2, "..");
	assert_columns(columns_append_end, "abcdefgh", 0, "");
	assert_columns(columns_append_start, "", 0, "");
	/* Two wide characters do not fit 4 columns beside the dots; one does not fit half. */
	assert_columns(columns_append_start, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5,
		       "\xe6\x97\xa5...");
	assert_columns(columns_append_end, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, "...");
	assert_columns(columns_append_start, "a\nb", COLUMNS_ANY, "a\\x0ab");
}

static void assert_via(const struct report_site *site, size_t width, const char *expected)
{
	struct buffer out = { 0 };

	text_place_append_via(&out, site, width);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

/* What allocated can be read in any width: a function's start rather than the end of a file's name. */
static void test_via(void **state)
{
	struct report_leaf leaves[] = {
		{ .frame = { .kind = FRAME_PYTHON,
			     .function = "capwords",
			     .file = "/usr/lib/python3.11/longstring.py",
			     .line = 123 } },
		{ .frame = { .kind = FRAME_PYTHON,
			     .function = "title",
			     .file = "/usr/lib/python3.11/longstring.py",
			     .line = 7 } },
	};
	struct report_site site = { .leaves = leaves, .leaf_count = 2, .leaves_more = 3 };

	(void)state;
	assert_via(&site, COLUMNS_ANY, "longstring.py:123, :7 +3");
	assert_via(&site, 24, "longstring.py:123, :7 +3");
	assert_via(&site, 20, "longstring.py:123 +4");
	assert_via(&site, 17, "longstring.py:123");
	assert_via(&site, 16, "capwords +4");
	assert_via(&site, 12, "capwords +4");
	assert_via(&site, 10, "capwords");
	leaves[0].frame.function = "start_of_something";
	assert_via(&site, 12, "start_of_...");
	site.source = SOURCE_MMAP;
	assert_via(&site, 25, "mmap longstring.py:123 +4");
	assert_via(&site, 13, "mmap start...");
	assert_via(&site, 12, "mmap +5");
	leaves[0].frame.function = NULL;
	site.source = SOURCE_HEAP;
	assert_via(&site, 12, "...ng.py:123");
	leaves[0].frame.file = "";
	leaves[0].frame.line = 0;
	site.leaf_count = 1;
	site.leaves_more = 0;
	assert_via(&site, 12, "");
}

static void assert_wrapped(const char *text, const char *expected)
{
	struct buffer out = { 0 };

	columns_wrap(&out, text, 10, 2);
	assert_string_equal(out.data, expected);
	buffer_free(&out);
}

static void test_wrap(void **state)
{
	(void)state;
	assert_wrapped("", "\n");
	assert_wrapped("one two", "one two\n");
	assert_wrapped("exactly 10", "exactly 10\n");
	assert_wrapped("one two three four", "one two\n  three\n  four\n");
	assert_wrapped("unbreakable-word x", "unbreakabl\n  e-word x\n");
	assert_wrapped("one  two     three", "one  two\n  three\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_frames_verbose),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_collections),
		cmocka_unit_test(test_remarks_fit),
		cmocka_unit_test(test_growth_of_nothing),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_server_verbose),
		cmocka_unit_test(test_limits_fit),
		cmocka_unit_test(test_row_without_frames),
		cmocka_unit_test(test_losses_and_rest),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_open_files),
		cmocka_unit_test(test_opening_fits),
		cmocka_unit_test(test_nothing_in_use),
		cmocka_unit_test(test_nasty_fits),
		cmocka_unit_test(test_nasty_leaves_fit),
		cmocka_unit_test(test_nasty_verbose_is_safe),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_via),
		cmocka_unit_test(test_wrap),
	};

	setenv("TZ", "UTC", 1);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
