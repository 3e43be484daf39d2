/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pprof format, unpacked by protobuf-c: an expected output, and nasty reports in which all that refers to something finds it. Go's
 * own reader reads it in tests/live/test_formats.py.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "base/text.h"
#include "pprof.pb-c.h"
#include "render/difference.h"
#include "unit/expected.h"
#include "unit/gunzip.h"
#include "unit/nasty.h"

static Pprof__Profile *unpack(const struct buffer *out)
{
	struct buffer bytes = { 0 };
	Pprof__Profile *profile;

	gunzip(out, &bytes);
	profile = pprof__profile__unpack(NULL, bytes.length, (uint8_t *)bytes.data);
	assert_non_null(profile);
	buffer_free(&bytes);
	return profile;
}

static Pprof__Profile *render(const struct report *report)
{
	const struct render_options plain = { 0 };
	struct buffer out = { 0 };
	Pprof__Profile *profile;

	render_format_find("pprof")->render(report, &plain, &out);
	profile = unpack(&out);
	buffer_free(&out);
	return profile;
}

static const char *text_of(const Pprof__Profile *profile, int64_t position)
{
	assert_in_range(position, 0, profile->n_strings - 1);
	return profile->strings[position];
}

/* Ids are numbers from 1 on, in the order of what has them. */
static const Pprof__Function *function_of(const Pprof__Profile *profile, uint64_t id)
{
	assert_in_range(id, 1, profile->n_functions);
	assert_int_equal(profile->functions[id - 1]->id, id);
	return profile->functions[id - 1];
}

static const Pprof__Location *location_of(const Pprof__Profile *profile, uint64_t id)
{
	assert_in_range(id, 1, profile->n_locations);
	assert_int_equal(profile->locations[id - 1]->id, id);
	return profile->locations[id - 1];
}

static const Pprof__Mapping *mapping_of(const Pprof__Profile *profile, uint64_t id)
{
	size_t i;

	for (i = 0; i < profile->n_mappings; i++)
		if (profile->mappings[i]->id == id)
			return profile->mappings[i];
	fail_msg("there is no mapping %" PRIu64, id);
	return NULL;
}

static void print_location(const Pprof__Profile *profile, const Pprof__Location *location,
			   struct buffer *out)
{
	const Pprof__Mapping *mapping;
	size_t i;

	buffer_append_string(out, "   ");
	if (location->mapping_id) {
		mapping = mapping_of(profile, location->mapping_id);
		buffer_printf(out, " %s+0x%" PRIx64, text_of(profile, mapping->file),
			      location->address - mapping->start + mapping->offset);
	}
	for (i = 0; i < location->n_lines; i++) {
		const Pprof__Function *function =
			function_of(profile, location->lines[i]->function_id);

		buffer_printf(out, " | %s %s:%" PRId64, text_of(profile, function->name),
			      text_of(profile, function->file), location->lines[i]->line);
	}
	buffer_append_string(out, "\n");
}

static void print_sample(const Pprof__Profile *profile, const Pprof__Sample *sample,
			 struct buffer *out)
{
	size_t i;

	buffer_append_string(out, "sample");
	for (i = 0; i < sample->n_values; i++)
		buffer_printf(out, " %" PRId64, sample->values[i]);
	for (i = 0; i < sample->n_labels; i++) {
		const Pprof__Label *label = sample->labels[i];

		buffer_printf(out, "%s%s=", i ? ", " : " ", text_of(profile, label->key));
		if (label->text)
			buffer_append_string(out, text_of(profile, label->text));
		else
			buffer_printf(out, "%" PRId64 " %s", label->number,
				      text_of(profile, label->unit));
	}
	buffer_append_string(out, "\n");
	for (i = 0; i < sample->n_location_ids; i++)
		print_location(profile, location_of(profile, sample->location_ids[i]), out);
}

static char *print(const Pprof__Profile *profile)
{
	struct buffer out = { 0 };
	size_t i;

	for (i = 0; i < profile->n_sample_types; i++)
		buffer_printf(&out, "%s/%s ", text_of(profile, profile->sample_types[i]->type),
			      text_of(profile, profile->sample_types[i]->unit));
	buffer_printf(&out, "default %s\n", text_of(profile, profile->default_sample_type));
	buffer_printf(&out, "period %s/%s %" PRId64 "\n",
		      text_of(profile, profile->period_type->type),
		      text_of(profile, profile->period_type->unit), profile->period);
	buffer_printf(&out, "time %" PRId64 " duration %" PRId64 "\n", profile->time_ns,
		      profile->duration_ns);
	for (i = 0; i < profile->n_comments; i++)
		buffer_printf(&out, "comment %s\n", text_of(profile, profile->comments[i]));
	for (i = 0; i < profile->n_mappings; i++)
		buffer_printf(
			&out, "mapping 0x%" PRIx64 "-0x%" PRIx64 " 0x%" PRIx64 " %s [%s] %d\n",
			profile->mappings[i]->start, profile->mappings[i]->limit,
			profile->mappings[i]->offset, text_of(profile, profile->mappings[i]->file),
			text_of(profile, profile->mappings[i]->build_id),
			profile->mappings[i]->has_functions);
	for (i = 0; i < profile->n_samples; i++)
		print_sample(profile, profile->samples[i], &out);
	return out.data;
}

static struct report *report_of(struct sample *sample)
{
	const struct report_options options = { 0 };
	const struct report_names names = sample_names(sample);

	return report_build(&sample->snapshot, &options, &names);
}

static void check_sample(struct sample *sample, const char *expected)
{
	struct report *report = report_of(sample);
	Pprof__Profile *profile = render(report);
	char *text = print(profile);

	assert_expected(expected, text);
	free(text);
	pprof__profile__free_unpacked(profile, NULL);
	report_free(report);
	sample_free(sample);
}

static void test_server(void **state)
{
	(void)state;
	check_sample(sample_server(), "server.pprof.txt");
}

/* Estimates are marked, and so are ended programs left out. */
static void test_marks(void **state)
{
	struct sample *sample = sample_server_sampled();

	(void)state;
	sample->sites[1].ended = true;
	check_sample(sample, "sampled.pprof.txt");
}

/* A row without frames, and one of pages that no line is to blame for. */
static void test_leaves(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct report *report;
	Pprof__Profile *profile;
	char *text;

	(void)state;
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 100, 1, 0, 0 });
	sample_site(sample, 0, &sample_mmap, sample_stack(sample, NULL, 0),
		    (struct site_stats){ 50, 1, 0, 0 })
		->region = REGION_RUBY_HEAP;
	report = report_of(sample);
	profile = render(report);
	text = print(profile);
	assert_non_null(strstr(text, "function=malloc, age=0 nanoseconds\n    | malloc :0\n"));
	assert_non_null(strstr(text, "    | [Ruby heap pages] :0\n"));
	free(text);
	pprof__profile__free_unpacked(profile, NULL);
	report_free(report);
	sample_free(sample);
}

/* A name of a megabyte is whole, and a file's name that looks like another one's record is a name. */
static void test_large_name(void **state)
{
	const size_t size = 1 << 20;
	struct sample *sample = sample_new_empty(1);
	uint32_t module = sample_module(sample, "/tmp/<script>\n[ruby] 12", 0xab);
	char *name = memory_alloc(1, size + 1);
	struct frame frame = { FRAME_NATIVE, module, 0, 0x10, NULL };
	struct report *report;
	Pprof__Profile *profile;

	(void)state;
	memset(name, 'x', size);
	sample_name(sample, name, "<script>alert(1)</script>\n", 7);
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1),
		    (struct site_stats){ 100, 1, 0, 0 });
	report = report_of(sample);
	profile = render(report);
	assert_int_equal(profile->n_functions, 1);
	assert_string_equal(text_of(profile, profile->functions[0]->name), name);
	assert_string_equal(text_of(profile, profile->functions[0]->file),
			    "<script>alert(1)</script>\\x0a");
	assert_string_equal(text_of(profile, profile->mappings[0]->file),
			    "/tmp/<script>\\x0a[ruby] 12");
	pprof__profile__free_unpacked(profile, NULL);
	report_free(report);
	sample_free(sample);
	free(name);
}

static bool keep_all(void *context, struct buffer *out)
{
	buffer_append(context, out->data, out->length);
	buffer_clear(out);
	return true;
}

/* In pieces it is the same, whatever is passed on when. */
static void test_pieces(void **state)
{
	struct sample *sample = sample_new_empty(1);
	char *names[SAMPLE_MAX - 4] = { NULL };
	struct buffer pieces = { 0 }, rest = { 0 }, whole = { 0 };
	const struct render_options plain = { 0 };
	const struct render_options drained = { .drain = keep_all, .context = &pieces };
	struct report *report;
	unsigned int seed = 1;
	size_t i, n;

	(void)state;
	for (i = 0; i < SAMPLE_MAX - 4; i++) {
		struct frame frame = { .module = MODULE_NONE };

		names[i] = memory_alloc(1, 20001);
		for (n = 0; n < 20000; n++)
			names[i][n] = (char)('!' + rand_r(&seed) % 90);
		frame.address = sample_name(sample, names[i], NULL, 0);
		sample_site(sample, 0, &sample_malloc, sample_stack(sample, &frame, 1),
			    (struct site_stats){ 100 + i, 1, 0, 0 });
	}
	report = report_of(sample);
	render_format_find("pprof")->render(report, &plain, &whole);
	render_format_find("pprof")->render(report, &drained, &rest);
	assert_in_range(pieces.length, 500000, whole.length);
	assert_in_range(rest.length, 1, 100000);
	buffer_append(&pieces, rest.data, rest.length);
	assert_int_equal(pieces.length, whole.length);
	assert_memory_equal(pieces.data, whole.data, whole.length);
	buffer_free(&pieces);
	buffer_free(&rest);
	buffer_free(&whole);
	report_free(report);
	sample_free(sample);
	for (i = 0; i < SAMPLE_MAX - 4; i++)
		free(names[i]);
}

static void check_text(const char *text)
{
	unsigned int rune;
	size_t length;

	for (; *text; text += length) {
		length = text_decode_utf8(text, &rune);
		assert_int_not_equal(length, 0);
		assert_false(text_rune_is_unsafe(rune));
	}
}

static void check_location(const Pprof__Profile *profile, const Pprof__Location *location)
{
	const Pprof__Mapping *mapping;
	size_t i;

	if (location->mapping_id) {
		mapping = mapping_of(profile, location->mapping_id);
		if (location->address)
			assert_in_range(location->address, mapping->start, mapping->limit - 1);
	} else {
		assert_int_equal(location->address, 0);
	}
	/* Without a line, it must be found by its address. */
	assert_true(location->n_lines || location->address);
	for (i = 0; i < location->n_lines; i++)
		function_of(profile, location->lines[i]->function_id);
}

static void check_profile(const Pprof__Profile *profile, const struct report *report)
{
	uint64_t sums[4] = { 0 };
	size_t i, n;

	assert_string_equal(text_of(profile, 0), "");
	for (i = 0; i < profile->n_strings; i++)
		check_text(profile->strings[i]);
	for (i = 0; i < profile->n_locations; i++)
		check_location(profile, profile->locations[i]);
	assert_int_equal(profile->n_samples, report->site_count);
	for (i = 0; i < profile->n_samples; i++) {
		assert_int_equal(profile->samples[i]->n_values, 4);
		assert_true(profile->samples[i]->n_location_ids > 0);
		for (n = 0; n < profile->samples[i]->n_location_ids; n++)
			location_of(profile, profile->samples[i]->location_ids[n]);
		for (n = 0; n < 4; n++)
			sums[n] += (uint64_t)profile->samples[i]->values[n];
	}
	for (i = 0; i < report->site_count; i++) {
		const struct site_stats *stats = &report->sites[i].stats;
		const uint64_t values[4] = { stats->alloc_objects, stats->alloc_bytes,
					     stats->alloc_objects - stats->free_objects,
					     stats->alloc_bytes - stats->free_bytes };

		for (n = 0; n < 4; n++)
			sums[n] -= values[n] < INT64_MAX ? values[n] : INT64_MAX;
	}
	for (n = 0; n < 4; n++)
		assert_int_equal(sums[n], 0);
}

static void test_nasty(void **state)
{
	unsigned int seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		Pprof__Profile *profile = render(report);

		check_profile(profile, report);
		pprof__profile__free_unpacked(profile, NULL);
		report_free(report);
		nasty_free(nasty);
	}
}

/* From 100 bytes to 40, and what is new: values below 0 are allowed. */
static void test_difference(void **state)
{
	const struct report_frame frame = { .function = "serve", .file = "serve.c", .line = 3 };
	const struct report_frame other = { .function = "fresh" };
	const struct render_difference_options options = { 0 };
	struct profile profiles[2] = { { .name = "a" }, { .name = "b\n" } };
	const struct profile *pointers[2] = { &profiles[0], &profiles[1] };
	struct profile_row row = { .program = "ruby",
				   .allocator = "glibc",
				   .function = "malloc",
				   .frame_count = 1,
				   .figures = { 300, 3, 200, 2 } };
	struct difference *difference;
	struct buffer out = { 0 };
	Pprof__Profile *profile;
	char *text;

	(void)state;
	profile_add(&profiles[0], &row, &frame);
	row.figures = (struct profile_figures){ 340, 5, 300, 3 };
	profile_add(&profiles[1], &row, &frame);
	row.figures = (struct profile_figures){ 70, 7, 0, 0 };
	profile_add(&profiles[1], &row, &other);
	difference = difference_new(pointers, 2);
	render_difference_pprof(difference, &options, &out);
	profile = unpack(&out);
	text = print(profile);
	assert_non_null(strstr(text, "from a to b\\x0a\n"));
	assert_non_null(strstr(text, "sample 2 40 1 -60 comm=ruby, source=heap, allocator=glibc, "
				     "function=malloc, change=shrunk\n    | serve serve.c:3\n"));
	assert_non_null(strstr(text, "sample 7 70 7 70 comm=ruby, source=heap, allocator=glibc, "
				     "function=malloc, change=new\n    | fresh :0\n"));
	free(text);
	pprof__profile__free_unpacked(profile, NULL);
	buffer_free(&out);
	difference_free(difference);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),	   cmocka_unit_test(test_marks),
		cmocka_unit_test(test_leaves),	   cmocka_unit_test(test_large_name),
		cmocka_unit_test(test_pieces),	   cmocka_unit_test(test_nasty),
		cmocka_unit_test(test_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
