/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_report.h. What is not as it should be makes the report one that cannot be read. */
#include "recording/json_report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/frame_kind.h"
#include "model/source.h"
#include "recording/json_file.h"

/* More than any report has: one with more is made to take memory. */
#define DEPTH_MAX 4096
#define FRAMES_MAX (1 << 24)

#define NS_PER_SECOND 1e9
#define SECONDS_MAX 1e9

struct load {
	struct profile *profile;
	const json_t *root;
	bool compact; /* schema 2 */
	const char *damage; /* what is wrong with it; NULL = nothing */
	/* Of schema 2. */
	const json_t *strings, *modules, *calls, *frames, *stacks;
	struct table targets; /* by pid */
	struct report_frame *stack; /* of the present row; owned */
	size_t frame_count; /* of all rows */
};

static void load_damage(struct load *load, const char *what)
{
	if (!load->damage)
		load->damage = what;
}

/* Tables of schema 2 */

/* What an array of numbers has at an index: the row of `table` there. NULL where there is null, which is no damage. */
static const json_t *load_position(struct load *load, const json_t *array, size_t index,
				   const json_t *table)
{
	const json_t *position = json_array_get(array, index);
	const json_t *row = NULL;

	if (json_is_null(position))
		return NULL;
	if (json_is_integer(position) && json_integer_value(position) >= 0)
		row = json_array_get(table, (size_t)json_integer_value(position));
	if (!row)
		load_damage(load, "a position is in no table");
	return row;
}

static const char *load_string(struct load *load, const json_t *array, size_t index)
{
	return json_string_value(load_position(load, array, index, load->strings));
}

static void load_compact_frame(struct load *load, const json_t *row, struct report_frame *frame,
			       const char **ret_kind)
{
	const json_t *module = load_position(load, row, 2, load->modules);

	*ret_kind = load_string(load, row, 0);
	frame->function = load_string(load, row, 1);
	if (module) {
		frame->module = load_string(load, module, 0);
		frame->build_id = (char *)(uintptr_t)load_string(load, module, 1);
	}
	frame->offset = json_file_value(json_array_get(row, 3), 0);
	frame->whole = !json_is_integer(json_array_get(row, 3));
	frame->file = load_string(load, row, 4);
	frame->line = (uint32_t)json_file_value(json_array_get(row, 5), 0);
	frame->inlined = json_file_value(json_array_get(row, 6), 0);
}

/* Frames */

static const char *load_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void load_plain_frame(const json_t *row, struct report_frame *frame, const char **ret_kind)
{
	*ret_kind = load_text(row, "kind");
	frame->function = load_text(row, "function");
	frame->module = load_text(row, "module");
	frame->build_id = (char *)(uintptr_t)load_text(row, "build_id");
	frame->offset = json_file_number(row, "offset");
	frame->whole = !json_is_integer(json_object_get(row, "offset"));
	frame->file = load_text(row, "file");
	frame->line = (uint32_t)json_file_number(row, "line");
	frame->inlined = json_is_true(json_object_get(row, "inlined"));
}

static void load_set_kind(struct load *load, const char *text, struct report_frame *frame)
{
	int kind;

	for (kind = 0; text && kind <= FRAME_THREAD; kind++)
		if (!strcmp(text, frame_kind_name((enum frame_kind)kind))) {
			frame->kind = (enum frame_kind)kind;
			return;
		}
	load_damage(load, "a frame is of an unknown kind");
}

static void load_add_frame(struct load *load, const json_t *row, size_t *count)
{
	struct report_frame *frame = &load->stack[*count];
	const char *kind = NULL;

	if (*count == DEPTH_MAX || ++load->frame_count > FRAMES_MAX) {
		load_damage(load, "its stacks are too deep");
		return;
	}
	*frame = (struct report_frame){ 0 };
	if (load->compact)
		load_compact_frame(load, row, frame, &kind);
	else
		load_plain_frame(row, frame, &kind);
	load_set_kind(load, kind, frame);
	++*count;
}

/* A stack is written behind the one that called it, so there is no circle. */
static size_t load_compact_stack(struct load *load, const json_t *site)
{
	const json_t *position = json_object_get(site, "stack");
	json_int_t at = json_is_integer(position) ? json_integer_value(position) : -1, caller;
	size_t count = 0;

	while (at >= 0 && !load->damage) {
		const json_t *stack = json_array_get(load->stacks, (size_t)at);
		const json_t *frame = load_position(load, stack, 1, load->frames);

		if (!frame) {
			load_damage(load, "a frame is missing");
			break;
		}
		load_add_frame(load, frame, &count);
		position = json_array_get(stack, 0);
		caller = json_is_integer(position) ? json_integer_value(position) : -1;
		if (caller >= at)
			load_damage(load, "its stacks are a circle");
		at = caller;
	}
	return count;
}

static size_t load_plain_stack(struct load *load, const json_t *site)
{
	const json_t *frames = json_object_get(site, "frames");
	size_t count = 0, i;

	for (i = 0; i < json_array_size(frames) && !load->damage; i++)
		load_add_frame(load, json_array_get(frames, i), &count);
	return count;
}

/* Rows */

static void load_set_source(struct load *load, const char *text, struct profile_row *row)
{
	int source;

	for (source = 0; text && source < SOURCE_COUNT; source++)
		if (!strcmp(text, source_name((enum memory_source)source))) {
			row->source = (enum memory_source)source;
			return;
		}
	load_damage(load, "a source of memory is unknown");
}

static void load_set_call(struct load *load, const json_t *site, struct profile_row *row)
{
	const json_t *position = json_object_get(site, "call"), *call;
	const char *source;

	if (load->compact) {
		call = json_array_get(load->calls, json_is_integer(position)
							   ? (size_t)json_integer_value(position)
							   : SIZE_MAX);
		source = load_string(load, call, 0);
		row->allocator = load_string(load, call, 1);
		row->function = load_string(load, call, 2);
	} else {
		source = load_text(site, "source");
		row->allocator = load_text(site, "allocator");
		row->function = load_text(site, "function");
	}
	load_set_source(load, source, row);
}

/* One that this version does not know is none that it could name. */
static enum region load_region(const json_t *site)
{
	const char *text = load_text(site, "region");
	int region;

	for (region = REGION_NONE + 1; text && region < REGION_COUNT; region++)
		if (!strcmp(text, region_name((enum region)region)))
			return (enum region)region;
	return REGION_NONE;
}

static const char *load_program(const struct load *load, uint64_t pid)
{
	const json_t *target = table_get(&load->targets, pid);

	return profile_program(load_text(target, "exe"), load_text(target, "comm"));
}

static struct profile_figures load_figures(const json_t *object)
{
	return (struct profile_figures){
		.alloc_bytes = json_file_number(object, "alloc_bytes"),
		.alloc_objects = json_file_number(object, "alloc_objects"),
		.free_bytes = json_file_number(object, "free_bytes"),
		.free_objects = json_file_number(object, "free_objects"),
	};
}

static void load_site(struct load *load, const json_t *site)
{
	struct profile_row row = {
		.program = load_program(load, json_file_number(site, "pid")),
		.region = load_region(site),
		.sampled = json_is_true(json_object_get(site, "sampled")),
		.by_line = json_is_array(json_object_get(site, "via")),
		.figures = load_figures(site),
	};

	if (json_is_true(json_object_get(site, "ended")))
		return;
	load_set_call(load, site, &row);
	row.frame_count = load->compact ? load_compact_stack(load, site)
					: load_plain_stack(load, site);
	if (!load->damage)
		profile_add(load->profile, &row, load->stack);
}

static void load_sites(struct load *load)
{
	const json_t *sites = json_object_get(load->root, "sites");
	size_t i;

	for (i = 0; i < json_array_size(sites) && !load->damage; i++)
		load_site(load, json_array_get(sites, i));
}

/* The whole */

/* What --only has left out is in the totals, and in no row. */
static void load_totals(struct load *load)
{
	struct profile *profile = load->profile;
	const struct profile_figures all = load_figures(json_object_get(load->root, "totals"));
	const struct profile_figures out = load_figures(json_object_get(load->root, "left_out"));
	struct profile_figures listed = { 0 };
	size_t i;

	for (i = 0; i < profile->row_count; i++)
		profile_figures_add(&listed, &profile->rows[i].figures);
	/* In use is a difference, so both are added to one side. */
	profile->totals = all;
	profile->totals.free_bytes += profile_inuse_bytes(&out);
	profile->totals.free_objects += profile_inuse_objects(&out);
	profile->is_part = profile_inuse_bytes(&listed) != profile_inuse_bytes(&profile->totals) ||
			   profile_inuse_objects(&listed) !=
				   profile_inuse_objects(&profile->totals);
}

static void load_moment(struct load *load)
{
	double seconds = json_number_value(json_object_get(load->root, "duration_s"));

	if (!json_file_time(json_object_get(load->root, "time"), &load->profile->wall_time))
		load_damage(load, "it has no time");
	if (seconds > 0 && seconds < SECONDS_MAX)
		load->profile->duration_ns = (uint64_t)(seconds * NS_PER_SECOND);
}

static void load_targets(struct load *load)
{
	const json_t *targets = json_object_get(load->root, "targets");
	size_t i;

	for (i = 0; i < json_array_size(targets); i++) {
		json_t *target = json_array_get(targets, i);

		table_put(&load->targets, json_file_number(target, "pid"), target);
		profile_add_pid(load->profile, (int)(json_file_number(target, "pid") & INT_MAX));
	}
}

static void load_tables(struct load *load)
{
	load->strings = json_object_get(load->root, "strings");
	load->modules = json_object_get(load->root, "modules");
	load->calls = json_object_get(load->root, "calls");
	load->frames = json_object_get(load->root, "frames");
	load->stacks = json_object_get(load->root, "stacks");
}

static void load_check(struct load *load)
{
	const uint64_t schema = json_file_number(load->root, "schema");
	const char *command = load_text(load->root, "command");

	load->compact = schema == 2;
	if (command && !strcmp(command, "memory"))
		load_damage(load, "it is of 'tracer memory', which compares by --since");
	else if (!command || strcmp(command, "trace") != 0)
		load_damage(load, "it is no report of 'tracer -j'");
	else if (schema != 1 && schema != 2)
		load_damage(load, "it was made by a later version of tracer: use that one");
	else if (!json_is_array(json_object_get(load->root, "sites")))
		load_damage(load, "it has no sites");
	else if (json_object_get(load->root, "budget"))
		load_damage(load, "it has estimates of --budget, which are of growth already");
}

int json_report_parse(const struct buffer *text, const char *what, struct profile *profile,
		      struct error *error)
{
	json_t *root = json_file_last(text, what, error);
	struct load load = { .profile = profile, .root = root };

	if (!root)
		return -EINVAL;
	load_check(&load);
	if (!load.damage) {
		load.stack = memory_alloc(DEPTH_MAX + 1, sizeof(*load.stack));
		load_moment(&load);
		load_targets(&load);
		load_tables(&load);
		load_sites(&load);
		load_totals(&load);
		table_free(&load.targets);
		free(load.stack);
	}
	json_decref(root);
	if (load.damage)
		return error_set(error, ERROR_USAGE, -EBADMSG, "cannot use the %s: %s", what,
				 load.damage);
	return 0;
}
