/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles of OTLP, unpacked by protobuf-c: a sample whose figures are known, and nasty reports in which all that refers to something finds
 * it. protoc reads them in tests/live/test_otlp.py.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <inttypes.h>
#include <cmocka.h>

#include "base/text.h"
#include "otlp.pb-c.h"
#include "render/otlp.h"
#include "unit/nasty.h"

static Otlp__Request *render(const struct report *report)
{
	const struct render_options plain = { 0 };
	struct buffer out = { 0 };
	Otlp__Request *request;

	otlp_format.render(report, &plain, &out);
	request = otlp__request__unpack(NULL, out.length, (uint8_t *)out.data);
	assert_non_null(request);
	assert_non_null(request->dictionary);
	buffer_free(&out);
	return request;
}

static struct report *report_of(struct sample *sample)
{
	const struct report_options options = { 0 };
	const struct report_names names = sample_names(sample);

	return report_build(&sample->snapshot, &options, &names);
}

static const char *text_of(const Otlp__Dictionary *dictionary, int32_t index)
{
	assert_in_range(index, 0, dictionary->n_string_table - 1);
	return dictionary->string_table[index];
}

static const Otlp__Stack *stack_of(const Otlp__Dictionary *dictionary, const Otlp__Sample *sample)
{
	assert_in_range(sample->stack_index, 1, dictionary->n_stack_table - 1);
	return dictionary->stack_table[sample->stack_index];
}

static const Otlp__Location *location_of(const Otlp__Dictionary *dictionary, int32_t index)
{
	assert_in_range(index, 1, dictionary->n_location_table - 1);
	return dictionary->location_table[index];
}

static const char *function_of(const Otlp__Dictionary *dictionary, const Otlp__Line *line)
{
	assert_in_range(line->function_index, 1, dictionary->n_function_table - 1);
	return text_of(dictionary, dictionary->function_table[line->function_index]->name_strindex);
}

/* The text of an attribute with this key, or NULL. */
static const char *attribute_of(const Otlp__Dictionary *dictionary, const int32_t *indices,
				size_t count, const char *key)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const Otlp__KeyValueAndUnit *attribute = dictionary->attribute_table[indices[i]];

		if (!strcmp(text_of(dictionary, attribute->key_strindex), key))
			return attribute->value->string_value;
	}
	return NULL;
}

static void test_sample(void **state)
{
	static const char *const types[] = { "inuse_objects", "inuse_space" };
	static const int64_t truth[][2] = { { 50000, 2048 }, { 51200000, 524288 } };
	struct sample *sample = sample_server();
	struct report *report = report_of(sample);
	Otlp__Request *request = render(report);
	const Otlp__Dictionary *dictionary = request->dictionary;
	const Otlp__ScopeProfiles *scope = request->resource_profiles[0]->scope_profiles[0];
	const Otlp__Mapping *mapping;
	const Otlp__Location *first;
	size_t i, n;

	(void)state;
	assert_int_equal(request->n_resource_profiles, 1);
	assert_string_equal(scope->scope->name, "tracer");
	assert_int_equal(scope->n_profiles, 2);
	for (i = 0; i < 2; i++) {
		const Otlp__Profile *profile = scope->profiles[i];

		assert_string_equal(text_of(dictionary, profile->sample_type->type_strindex),
				    types[i]);
		assert_int_equal(profile->time_unix_nano, report->wall_time * 1000000000);
		assert_int_equal(profile->duration_nano, report->duration_ns);
		/* The third site holds nothing. */
		assert_int_equal(profile->n_samples, 2);
		for (n = 0; n < 2; n++) {
			assert_int_equal(profile->samples[n]->n_values, 1);
			assert_int_equal(profile->samples[n]->values[0], truth[i][n]);
		}
	}
	/* Innermost first, with what is inlined. */
	first = location_of(
		dictionary,
		stack_of(dictionary, scope->profiles[0]->samples[0])->location_indices[0]);
	assert_int_equal(first->n_lines, 2);
	assert_string_equal(function_of(dictionary, first->lines[0]), "Arena::grow(std::size_t)");
	assert_int_equal(first->lines[0]->line, 188);
	assert_string_equal(function_of(dictionary, first->lines[1]),
			    "Parser::intern(std::string const&)");
	mapping = dictionary->mapping_table[first->mapping_index];
	assert_string_equal(text_of(dictionary, mapping->filename_strindex),
			    "/srv/app/vendor/gems/parser-2.1/lib/parser.so");
	assert_string_equal(attribute_of(dictionary, mapping->attribute_indices,
					 mapping->n_attribute_indices,
					 "process.executable.build_id.gnu"),
			    "abababab");
	otlp__request__free_unpacked(request, NULL);
	report_free(report);
	sample_free(sample);
}

/* Estimates are marked, and ended programs left out. */
static void test_marks(void **state)
{
	struct sample *sample = sample_server_sampled();
	struct report *report;
	Otlp__Request *request;
	const Otlp__Profile *profile;
	size_t i, n, marked = 0, wanted = 0;

	(void)state;
	sample->sites[1].ended = true;
	report = report_of(sample);
	request = render(report);
	profile = request->resource_profiles[0]->scope_profiles[0]->profiles[0];
	for (i = n = 0; i < report->site_count; i++) {
		if (report->sites[i].ended || !site_stats_inuse_objects(&report->sites[i].stats))
			continue;
		n++;
		wanted += report->sites[i].sampled;
	}
	assert_int_equal(profile->n_samples, n);
	for (i = 0; i < profile->n_samples; i++)
		marked += attribute_of(request->dictionary, profile->samples[i]->attribute_indices,
				       profile->samples[i]->n_attribute_indices,
				       "tracer.estimated") != NULL;
	assert_int_equal(marked, wanted);
	assert_true(marked > 0);
	otlp__request__free_unpacked(request, NULL);
	report_free(report);
	sample_free(sample);
}

static void check_first(const Otlp__Dictionary *dictionary)
{
	assert_string_equal(dictionary->string_table[0], "");
	assert_int_equal(otlp__mapping__get_packed_size(dictionary->mapping_table[0]), 0);
	assert_int_equal(otlp__location__get_packed_size(dictionary->location_table[0]), 0);
	assert_int_equal(otlp__function__get_packed_size(dictionary->function_table[0]), 0);
	assert_int_equal(otlp__stack__get_packed_size(dictionary->stack_table[0]), 0);
	assert_int_equal(dictionary->n_link_table, 1);
	assert_int_equal(otlp__key_value_and_unit__get_packed_size(dictionary->attribute_table[0]),
			 0);
}

static void test_empty(void **state)
{
	struct sample *sample = sample_new_empty(1);
	struct report *report = report_of(sample);
	Otlp__Request *request = render(report);

	(void)state;
	assert_int_equal(request->n_resource_profiles, 0);
	check_first(request->dictionary);
	assert_int_equal(request->dictionary->n_string_table, 1);
	otlp__request__free_unpacked(request, NULL);
	report_free(report);
	sample_free(sample);
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

static void check_sample(const Otlp__Dictionary *dictionary, const Otlp__Sample *sample)
{
	const Otlp__Stack *stack = stack_of(dictionary, sample);
	const Otlp__Mapping *mapping;
	size_t i, n;

	for (i = 0; i < stack->n_location_indices; i++) {
		const Otlp__Location *location =
			location_of(dictionary, stack->location_indices[i]);

		assert_in_range(location->mapping_index, 0, dictionary->n_mapping_table - 1);
		mapping = dictionary->mapping_table[location->mapping_index];
		if (location->address)
			assert_in_range(location->address, mapping->memory_start,
					mapping->memory_limit - 1);
		assert_true(location->n_lines || location->address);
		for (n = 0; n < location->n_lines; n++)
			function_of(dictionary, location->lines[n]);
	}
	for (i = 0; i < sample->n_attribute_indices; i++) {
		assert_in_range(sample->attribute_indices[i], 1, dictionary->n_attribute_table - 1);
		check_text(dictionary->attribute_table[sample->attribute_indices[i]]
				   ->value->string_value);
	}
}

/* The sum of a figure in all profiles, each of whose samples is checked. */
static uint64_t check_profiles(const Otlp__Request *request, size_t which)
{
	uint64_t sum = 0;
	size_t i, n;

	for (i = 0; i < request->n_resource_profiles; i++) {
		const Otlp__ResourceProfiles *resource = request->resource_profiles[i];
		const Otlp__Profile *profile = resource->scope_profiles[0]->profiles[which];

		for (n = 0; n < resource->resource->n_attributes; n++)
			if (resource->resource->attributes[n]->value->value_case ==
			    OTLP__ANY_VALUE__VALUE_STRING_VALUE)
				check_text(resource->resource->attributes[n]->value->string_value);
		for (n = 0; n < profile->n_samples; n++) {
			check_sample(request->dictionary, profile->samples[n]);
			sum += (uint64_t)profile->samples[n]->values[0];
		}
	}
	return sum;
}

static void test_nasty(void **state)
{
	unsigned int seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		struct nasty *nasty = nasty_new(seed);
		struct report *report = nasty_report(nasty);
		Otlp__Request *request = render(report);
		uint64_t sums[2] = { 0 };

		check_first(request->dictionary);
		for (i = 0; i < request->dictionary->n_string_table; i++)
			check_text(request->dictionary->string_table[i]);
		for (i = 0; i < report->site_count; i++) {
			const struct site_stats *stats = &report->sites[i].stats;
			const uint64_t values[] = { site_stats_inuse_objects(stats),
						    site_stats_inuse_bytes(stats) };

			if (report->sites[i].ended)
				continue;
			sums[0] += values[0] < INT64_MAX ? values[0] : INT64_MAX;
			sums[1] += values[1] < INT64_MAX ? values[1] : INT64_MAX;
		}
		assert_int_equal(check_profiles(request, 0), sums[0]);
		assert_int_equal(check_profiles(request, 1), sums[1]);
		otlp__request__free_unpacked(request, NULL);
		report_free(report);
		nasty_free(nasty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_nasty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
