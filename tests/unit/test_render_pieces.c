/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report is passed on in pieces while it is made: together they are the whole, and none of them holds many sites. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/buffer.h"
#include "unit/sample.h"

#define SITES 60
#define NAME_LENGTH 20000

/* More than a format makes of one site, and of all but the sites. */
#define SITE_MAX (4 * NAME_LENGTH)
#define PIECE_MAX ((64 << 10) + SITE_MAX)
/* More than a page has of its own behind the sites: its scripts. */
#define PAGE_MAX (64 << 10)

/* One whose size is that of the names: what is compressed, or cuts names, has tests of its own. */
static bool is_long(const struct render_format *format)
{
	return !format->binary && strcmp(format->name, "metrics") && strcmp(format->name, "svg");
}

/* A report of long names, no two of them equal. */
struct long_report {
	struct sample *sample;
	struct report *report;
	char *names[SITES];
};

static struct long_report *long_report_new(void)
{
	struct report_options options = { .internal = true };
	struct long_report *made = memory_alloc(1, sizeof(*made));
	struct report_names names;
	struct frame frame;
	size_t i;

	made->sample = sample_new_empty(1);
	for (i = 0; i < SITES; i++) {
		made->names[i] = memory_format("%0*zu", NAME_LENGTH, i);
		frame = (struct frame){
			.module = MODULE_NONE,
			.address = sample_name(made->sample, made->names[i], NULL, 0),
		};
		sample_site(made->sample, 0, &sample_malloc, sample_stack(made->sample, &frame, 1),
			    (struct site_stats){ .alloc_bytes = 100 + i, .alloc_objects = 1 });
	}
	names = sample_names(made->sample);
	made->report = report_build(&made->sample->snapshot, &options, &names);
	return made;
}

static void long_report_free(struct long_report *made)
{
	size_t i;

	report_free(made->report);
	sample_free(made->sample);
	for (i = 0; i < SITES; i++)
		free(made->names[i]);
	free(made);
}

struct taken {
	struct buffer all;
	size_t pieces, wanted; /* so many are taken */
};

static bool take(void *context, struct buffer *out)
{
	struct taken *taken = context;

	assert_in_range(out->length, 1, PIECE_MAX);
	if (taken->pieces >= taken->wanted)
		return false;
	buffer_append(&taken->all, out->data, out->length);
	buffer_clear(out);
	taken->pieces++;
	return true;
}

static struct taken take_pieces(const struct report *report, const struct render_format *format,
				size_t wanted, struct buffer *rest)
{
	struct taken taken = { .wanted = wanted };
	const struct render_options options = {
		.verbose = true, .paths = true, .drain = take, .context = &taken
	};

	format->render(report, &options, rest);
	return taken;
}

static void test_together_the_whole(void **state)
{
	const struct render_options whole = { .verbose = true, .paths = true };
	struct long_report *made = long_report_new();
	const struct render_format *format;

	(void)state;
	for (format = render_format_list(); format->name; format++) {
		struct buffer rest = { 0 };
		struct taken taken;
		char *expected;

		if (!is_long(format))
			continue;
		expected = sample_render(made->report, format->name, &whole);
		taken = take_pieces(made->report, format, SIZE_MAX, &rest);
		assert_in_range(rest.length, 0, PIECE_MAX);
		assert_in_range(taken.pieces, SITES * NAME_LENGTH / PIECE_MAX, SITES);
		buffer_append(&taken.all, rest.data, rest.length);
		assert_string_equal(taken.all.data, expected);
		buffer_free(&taken.all);
		buffer_free(&rest);
		free(expected);
	}
	long_report_free(made);
}

/* Where nobody takes any more, no more sites are made. */
static void test_not_wanted(void **state)
{
	struct long_report *made = long_report_new();
	const struct render_format *format;

	(void)state;
	for (format = render_format_list(); format->name; format++) {
		struct buffer rest = { 0 };
		struct taken taken;

		if (!is_long(format))
			continue;
		taken = take_pieces(made->report, format, 2, &rest);
		assert_int_equal(taken.pieces, 2);
		assert_in_range(rest.length, 1, PIECE_MAX + (format->page ? PAGE_MAX : 0));
		buffer_free(&taken.all);
		buffer_free(&rest);
	}
	long_report_free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_together_the_whole),
		cmocka_unit_test(test_not_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
