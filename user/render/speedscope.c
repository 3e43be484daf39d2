/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of speedscope (speedscope.app): a profile for each figure, of the same stacks, and one table of frames for all of them.
 * Stacks are numbers of frames, outermost first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/figures.h"
#include "render/formats.h"
#include "render/json_member.h"
#include "render/notes.h"
#include "render/places.h"

struct speedscope_stack {
	size_t first, length; /* in the numbers */
	uint64_t values[FIGURES];
};

struct speedscope {
	const struct figure *figures;
	const struct render_options *options;
	struct json_writer json;
	struct places places;
	struct speedscope_stack *stacks; /* owned, as what follows */
	size_t count, capacity;
	uint32_t *numbers;
	size_t number_count, number_capacity;
	char *title; /* the first sentence of the notes */
};

static void speedscope_take(void *context, const struct report_site *site,
			    const uint64_t values[FIGURES])
{
	struct speedscope *speedscope = context;
	struct speedscope_stack *stack;
	size_t i;

	places_add_site(&speedscope->places, site);
	speedscope->stacks = memory_grow(speedscope->stacks, speedscope->count,
					 &speedscope->capacity, sizeof(*speedscope->stacks));
	stack = &speedscope->stacks[speedscope->count++];
	stack->first = speedscope->number_count;
	stack->length = speedscope->places.path_length;
	memcpy(stack->values, values, sizeof(stack->values));
	for (i = 0; i < stack->length; i++) {
		speedscope->numbers = memory_grow(speedscope->numbers, speedscope->number_count,
						  &speedscope->number_capacity,
						  sizeof(*speedscope->numbers));
		speedscope->numbers[speedscope->number_count++] = speedscope->places.path[i];
	}
}

static void speedscope_title(void *context, const char *sentence)
{
	struct speedscope *speedscope = context;

	if (!speedscope->title)
		speedscope->title = memory_copy_string(sentence);
}

static void speedscope_samples(struct speedscope *speedscope, size_t figure)
{
	struct json_writer *json = &speedscope->json;
	size_t i, n;

	json_writer_key(json, "samples");
	json_writer_open(json, '[');
	for (i = 0; i < speedscope->count && render_drain(speedscope->options, json->out); i++) {
		const struct speedscope_stack *stack = &speedscope->stacks[i];

		if (!stack->values[figure])
			continue;
		json_writer_open(json, '[');
		for (n = 0; n < stack->length; n++)
			json_writer_integer(json, speedscope->numbers[stack->first + n]);
		json_writer_close(json, ']');
	}
	json_writer_close(json, ']');
}

/* The weights of the samples. Returns their sum. */
static uint64_t speedscope_weights(struct speedscope *speedscope, size_t figure)
{
	struct json_writer *json = &speedscope->json;
	uint64_t sum = 0;
	size_t i;

	json_writer_key(json, "weights");
	json_writer_open(json, '[');
	for (i = 0; i < speedscope->count && render_drain(speedscope->options, json->out); i++) {
		if (!speedscope->stacks[i].values[figure])
			continue;
		json_writer_integer(json, speedscope->stacks[i].values[figure]);
		figures_add(&sum, speedscope->stacks[i].values[figure]);
	}
	json_writer_close(json, ']');
	return sum;
}

static void speedscope_profile(struct speedscope *speedscope, size_t figure)
{
	struct json_writer *json = &speedscope->json;
	uint64_t sum;

	json_writer_open(json, '{');
	json_member_string(json, "type", "sampled");
	json_member_string(json, "name", speedscope->figures[figure].title);
	json_member_string(json, "unit", speedscope->figures[figure].is_bytes ? "bytes" : "none");
	speedscope_samples(speedscope, figure);
	sum = speedscope_weights(speedscope, figure);
	json_member_integer(json, "startValue", 0);
	json_member_integer(json, "endValue", sum);
	json_writer_close(json, '}');
}

static void speedscope_frames(struct speedscope *speedscope)
{
	struct json_writer *json = &speedscope->json;
	size_t i;

	json_writer_key(json, "shared");
	json_writer_open(json, '{');
	json_writer_key(json, "frames");
	json_writer_open(json, '[');
	for (i = 0; i < speedscope->places.count && render_drain(speedscope->options, json->out);
	     i++) {
		const struct place *place = &speedscope->places.items[i];
		const char *file = place->file ? place->file : place->module;

		json_writer_open(json, '{');
		json_member_string(json, "name", place->name);
		if (file)
			json_member_string(json, "file", file);
		if (place->line)
			json_member_integer(json, "line", place->line);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
	json_writer_close(json, '}');
}

static void speedscope_write(struct speedscope *speedscope)
{
	struct json_writer *json = &speedscope->json;
	size_t i;

	json_writer_open(json, '{');
	json_member_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_member_string(json, "name", speedscope->title);
	json_member_string(json, "exporter", "tracer " TRACER_VERSION);
	json_member_integer(json, "activeProfileIndex", 0);
	json_writer_key(json, "profiles");
	json_writer_open(json, '[');
	for (i = 0; i < FIGURES; i++)
		speedscope_profile(speedscope, i);
	json_writer_close(json, ']');
	speedscope_frames(speedscope);
	json_writer_close(json, '}');
	buffer_append_string(json->out, "\n");
	places_free(&speedscope->places);
	free(speedscope->stacks);
	free(speedscope->numbers);
	free(speedscope->title);
}

void render_speedscope(const struct report *report, const struct render_options *options,
		       struct buffer *out)
{
	struct speedscope speedscope = { .figures = figures_of_report(report),
					 .options = options,
					 .json = { .out = out } };

	notes_of_report(report, speedscope_title, &speedscope);
	figures_walk_report(report, speedscope_take, &speedscope);
	speedscope_write(&speedscope);
}

void render_difference_speedscope(const struct difference *difference,
				  const struct render_difference_options *options,
				  struct buffer *out)
{
	struct speedscope speedscope = { .figures = figures_of_difference,
					 .options = &options->base,
					 .json = { .out = out } };

	notes_of_difference(difference, speedscope_title, &speedscope);
	figures_walk_difference(difference, options, speedscope_take, &speedscope);
	speedscope_write(&speedscope);
}
