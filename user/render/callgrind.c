/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of callgrind (KCachegrind, callgrind_annotate): what each function's lines allocate themselves, and what each of their
 * calls does. Cost that went through a function twice on its way is not to count twice, so a function that is called by itself, however
 * far, is another one: f'2, as callgrind writes it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/text.h"
#include "render/figures.h"
#include "render/formats.h"
#include "render/notes.h"
#include "render/places.h"

#define CALLGRIND_SELF UINT32_MAX

/* Of a line: its own, or that of the calls of one function. */
struct callgrind_cost {
	uint32_t function; /* numbers of places without lines */
	uint32_t callee; /* CALLGRIND_SELF = none */
	uint32_t line;
	uint64_t values[FIGURES];
};

/* Names that have been written, each of which has a number since: texts by their addresses, functions by those of their places + 1. */
struct callgrind_names {
	struct table numbers;
};

/* On the path of a site. */
struct callgrind_step {
	uint32_t place, function;
};

struct callgrind {
	const struct figure *figures;
	const struct render_options *options;
	struct buffer *out;
	struct places sites; /* as sites have them */
	struct places places; /* with names of recursion; and functions */
	struct table costs; /* by place and callee: struct callgrind_cost, owned */
	struct callgrind_step *path; /* owned */
	size_t path_capacity;
	uint64_t sums[FIGURES];
	struct callgrind_names objects, files, functions;
};

/* How many places before this one on the path of a site are of the same function? */
static unsigned int callgrind_level(const struct places *sites, size_t index)
{
	const struct place *place = &sites->items[sites->path[index]], *other;
	unsigned int level = 1;
	size_t i;

	for (i = 0; i < index; i++) {
		other = &sites->items[sites->path[i]];
		level += other->name == place->name && other->file == place->file &&
			 other->module == place->module;
	}
	return level;
}

static struct callgrind_step callgrind_step(struct callgrind *callgrind, size_t index)
{
	const struct places *sites = &callgrind->sites;
	struct place place = sites->items[sites->path[index]];
	const unsigned int level = callgrind_level(sites, index);
	char *name = level > 1 ? memory_format("%s'%u", place.name, level) : NULL;
	struct callgrind_step step;

	if (name)
		place.name = name;
	step.place = places_add(&callgrind->places, &place);
	place.line = 0;
	step.function = places_add(&callgrind->places, &place);
	free(name);
	return step;
}

static void callgrind_add(struct callgrind *callgrind, struct callgrind_step from, uint32_t callee,
			  const uint64_t values[FIGURES])
{
	const uint64_t key = (uint64_t)from.place << 32 | callee;
	struct callgrind_cost *cost = table_get(&callgrind->costs, key);
	size_t i;

	if (!cost) {
		cost = memory_alloc(1, sizeof(*cost));
		cost->function = from.function;
		cost->callee = callee;
		cost->line = callgrind->places.items[from.place].line;
		table_put(&callgrind->costs, key, cost);
	}
	for (i = 0; i < FIGURES; i++)
		figures_add(&cost->values[i], values[i]);
}

static void callgrind_take(void *context, const struct report_site *site,
			   const uint64_t values[FIGURES])
{
	struct callgrind *callgrind = context;
	size_t length, i;

	places_add_site(&callgrind->sites, site);
	length = callgrind->sites.path_length;
	if (length > callgrind->path_capacity) {
		callgrind->path_capacity = length;
		callgrind->path = memory_resize(callgrind->path, length, sizeof(*callgrind->path));
	}
	for (i = 0; i < length; i++)
		callgrind->path[i] = callgrind_step(callgrind, i);
	for (i = 0; i + 1 < length; i++)
		callgrind_add(callgrind, callgrind->path[i], callgrind->path[i + 1].function,
			      values);
	callgrind_add(callgrind, callgrind->path[length - 1], CALLGRIND_SELF, values);
	for (i = 0; i < FIGURES; i++)
		figures_add(&callgrind->sums[i], values[i]);
}

/* What a function costs itself comes first. */
static int callgrind_compare(const void *a, const void *b)
{
	const struct callgrind_cost *left = *(const struct callgrind_cost *const *)a;
	const struct callgrind_cost *right = *(const struct callgrind_cost *const *)b;
	int order = compare_numbers(left->function, right->function);

	if (!order)
		order = compare_numbers(left->callee + 1, right->callee + 1);
	return order ? order : compare_numbers(left->line, right->line);
}

static struct callgrind_cost **callgrind_sorted(const struct callgrind *callgrind)
{
	struct callgrind_cost **sorted = memory_alloc(callgrind->costs.count + 1, sizeof(*sorted));
	const struct table_slot *slot;
	size_t cursor = 0, count = 0;

	while ((slot = table_next(&callgrind->costs, &cursor)))
		sorted[count++] = slot->value;
	if (count)
		qsort(sorted, count, sizeof(*sorted), callgrind_compare);
	return sorted;
}

/* "fl=(3) a.c", and "fl=(3)" from then on. */
static void callgrind_name(struct callgrind *callgrind, struct callgrind_names *names,
			   const char *key, uint64_t id, const char *text)
{
	uintptr_t number = (uintptr_t)table_get(&names->numbers, id);

	buffer_printf(callgrind->out, "%s=(%zu)", key,
		      number ? (size_t)number : names->numbers.count + 1);
	if (!number) {
		table_put(&names->numbers, id, (void *)(uintptr_t)(names->numbers.count + 1));
		buffer_append_string(callgrind->out, " ");
		buffer_append_string(callgrind->out, text);
	}
	buffer_append_string(callgrind->out, "\n");
}

/* A text of the places, which equal ones share; of what is unknown, callgrind's word. */
static void callgrind_text(struct callgrind *callgrind, struct callgrind_names *names,
			   const char *key, const char *text)
{
	static const char unknown[] = "???";

	callgrind_name(callgrind, names, key, (uintptr_t)(text ? text : unknown),
		       text ? text : unknown);
}

/* The names of a function, of one that is called by other keys. */
static void callgrind_function(struct callgrind *callgrind, bool is_called, uint32_t number)
{
	const struct place *place = &callgrind->places.items[number];

	callgrind_text(callgrind, &callgrind->objects, is_called ? "cob" : "ob", place->module);
	callgrind_text(callgrind, &callgrind->files, is_called ? "cfi" : "fl", place->file);
	callgrind_name(callgrind, &callgrind->functions, is_called ? "cfn" : "fn",
		       (uint64_t)number + 1, place->name);
}

static void callgrind_values(struct callgrind *callgrind, const uint64_t values[FIGURES])
{
	size_t i;

	for (i = 0; i < FIGURES; i++)
		buffer_printf(callgrind->out, " %" PRIu64, values[i]);
	buffer_append_string(callgrind->out, "\n");
}

/* How often a function was called is not known: a call is a block. */
static void callgrind_cost(struct callgrind *callgrind, const struct callgrind_cost *cost)
{
	uint64_t blocks = cost->values[3] > cost->values[1] ? cost->values[3] : cost->values[1];

	if (cost->callee != CALLGRIND_SELF) {
		callgrind_function(callgrind, true, cost->callee);
		buffer_printf(callgrind->out, "calls=%" PRIu64 " 0\n", blocks ? blocks : 1);
	}
	buffer_printf(callgrind->out, "%" PRIu32, cost->line);
	callgrind_values(callgrind, cost->values);
}

static void callgrind_body(struct callgrind *callgrind)
{
	struct callgrind_cost **sorted = callgrind_sorted(callgrind);
	size_t i;

	for (i = 0; i < callgrind->costs.count && render_drain(callgrind->options, callgrind->out);
	     i++) {
		if (!i || sorted[i]->function != sorted[i - 1]->function) {
			buffer_append_string(callgrind->out, "\n");
			callgrind_function(callgrind, false, sorted[i]->function);
		}
		callgrind_cost(callgrind, sorted[i]);
	}
	for (i = 0; i < callgrind->costs.count; i++)
		free(sorted[i]);
	free(sorted);
}

static void callgrind_begin(struct callgrind *callgrind)
{
	buffer_append_string(callgrind->out,
			     "# callgrind format\nversion: 1\ncreator: tracer " TRACER_VERSION
			     "\n");
}

static void callgrind_comment(void *context, const char *sentence)
{
	struct callgrind *callgrind = context;

	buffer_append_string(callgrind->out, "desc: ");
	buffer_append_string(callgrind->out, sentence);
	buffer_append_string(callgrind->out, "\n");
}

static void callgrind_write(struct callgrind *callgrind)
{
	size_t i;

	buffer_append_string(callgrind->out, "positions: line\n");
	for (i = 0; i < FIGURES; i++)
		buffer_printf(callgrind->out, "event: %s : %s\n", callgrind->figures[i].name,
			      callgrind->figures[i].title);
	buffer_append_string(callgrind->out, "events:");
	for (i = 0; i < FIGURES; i++)
		buffer_printf(callgrind->out, " %s", callgrind->figures[i].name);
	buffer_append_string(callgrind->out, "\nsummary:");
	callgrind_values(callgrind, callgrind->sums);
	callgrind_body(callgrind);
	buffer_append_string(callgrind->out, "\ntotals:");
	callgrind_values(callgrind, callgrind->sums);
	places_free(&callgrind->sites);
	places_free(&callgrind->places);
	table_free(&callgrind->costs);
	table_free(&callgrind->objects.numbers);
	table_free(&callgrind->files.numbers);
	table_free(&callgrind->functions.numbers);
	free(callgrind->path);
}

static void callgrind_command(struct callgrind *callgrind, const struct report *report)
{
	const struct target *target = report->target_count ? report->targets[0] : NULL;

	if (report->target_count != 1)
		return;
	buffer_printf(callgrind->out, "pid: %d\ncmd: ", target->pid);
	text_append_safe(callgrind->out, target->exe ? target->exe : target->comm);
	buffer_append_string(callgrind->out, "\n");
}

void render_callgrind(const struct report *report, const struct render_options *options,
		      struct buffer *out)
{
	struct callgrind callgrind = { .figures = figures_of_report(report),
				       .options = options,
				       .out = out };

	callgrind_begin(&callgrind);
	callgrind_command(&callgrind, report);
	notes_of_report(report, callgrind_comment, &callgrind);
	figures_walk_report(report, callgrind_take, &callgrind);
	callgrind_write(&callgrind);
}

void render_difference_callgrind(const struct difference *difference,
				 const struct render_difference_options *options,
				 struct buffer *out)
{
	struct callgrind callgrind = { .figures = figures_of_difference,
				       .options = &options->base,
				       .out = out };

	callgrind_begin(&callgrind);
	notes_of_difference(difference, callgrind_comment, &callgrind);
	figures_walk_difference(difference, options, callgrind_take, &callgrind);
	callgrind_write(&callgrind);
}
