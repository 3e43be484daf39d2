/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_wire.h. */
#include "decode/plan_wire.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "base/memory.h"
#include "decode/wire.h"
#include "probe/choice.h"
#include "tracer_abi.h"

/* More than any honest file has; of places for samples, the planner takes 4096. */
#define PROBES_MAX 16384
#define FUNCTIONS_MAX 4096
#define SKIPS_MAX 4096
#define RANGES_MAX 65536
#define NAMED_MAX 65536

/* The bits of a shape that describe a function. The tracer sets the rest: target_id and function id. */
#define SHAPE_OF_FUNCTION 0xffffffu

struct wire_options {
	struct probe_features features;
	uint8_t free_without_stack, at_entry, no_return_probes, avoid_switching, is_walked, is_left,
		has_samplers, light, inside, ends;
	uint32_t usdt, named_count;
};

void plan_wire_put_options(struct buffer *bytes, const struct plan *plan)
{
	const struct plan_options *options = &plan->options;
	const struct named_list *named = options->named;
	const struct wire_options wired = {
		.features = options->features,
		.free_without_stack = options->free_without_stack,
		.at_entry = options->at_entry,
		.no_return_probes = options->no_return_probes,
		.light = options->light,
		.inside = options->inside && !plan_is_inside(plan),
		.ends = options->ends,
		.avoid_switching = options->avoid_switching,
		.is_walked = plan->walker != NULL,
		.is_left = plan->switching != NULL,
		.has_samplers = plan->has_samplers,
		.usdt = options->usdt,
		.named_count = named ? (uint32_t)named->count : 0,
	};
	uint32_t i;

	wire_put(bytes, &wired, sizeof(wired));
	for (i = 0; i < wired.named_count; i++) {
		wire_put_number(bytes, SHAPE_OP(named->items[i].row.shape) == CALL_FREE);
		wire_put_text(bytes, named->items[i].text);
	}
}

bool plan_wire_get_options(const struct buffer *bytes, struct module_list *modules,
			   struct named_list *named, struct plan *ret_plan)
{
	struct wire wire = wire_begin(bytes);
	struct wire_options wired;
	struct plan_options options;
	char text[WIRE_TEXT_MAX];
	uint32_t i, frees;

	wire_get(&wire, &wired, sizeof(wired));
	for (i = 0; i < wired.named_count && !wire.bad; i++) {
		frees = wire_get_number(&wire);
		wire_get_text(&wire, text);
		wire.bad |= named_add(named, text, frees, NULL) != 0;
	}
	if (!wire_is_whole(&wire)) {
		named_list_free(named);
		return false;
	}
	options = (struct plan_options){
		.features = wired.features,
		.free_without_stack = wired.free_without_stack,
		.at_entry = wired.at_entry,
		.no_return_probes = wired.no_return_probes,
		.light = wired.light,
		.inside = wired.inside,
		.ends = wired.ends,
		.avoid_switching = wired.avoid_switching,
		.named = wired.named_count ? named : NULL,
		.usdt = (enum usdt_use)wired.usdt,
	};
	plan_init(ret_plan, modules, &options);
	ret_plan->has_samplers = wired.has_samplers;
	ret_plan->walker = wired.is_walked ? "a stack walker" : NULL;
	ret_plan->switching = wired.is_left ? "a file that switches stacks" : NULL;
	return true;
}

void plan_wire_put(struct buffer *bytes, const struct plan *plan)
{
	const struct named_list *named = plan->options.named;
	size_t i;

	wire_put_number(bytes, (uint32_t)plan->function_count);
	for (i = 1; i < plan->function_count; i++) {
		wire_put_text(bytes, plan->functions[i].allocator);
		wire_put_text(bytes, plan->functions[i].function);
		wire_put_number(bytes, plan->functions[i].sampled);
	}
	wire_put_number(bytes, (uint32_t)plan->count);
	for (i = 0; i < plan->count; i++) {
		wire_put(bytes, &plan->probes[i], sizeof(plan->probes[i]));
		wire_put_text(bytes, plan->probes[i].symbol);
	}
	wire_put_number(bytes, plan->allocates);
	wire_put_number(bytes, (uint32_t)plan->skipped_count);
	for (i = 0; i < plan->skipped_count; i++) {
		wire_put_number(bytes, plan->skipped[i].lost);
		wire_put_text(bytes, plan->skipped[i].sentence);
	}
	wire_put_number(bytes, (uint32_t)plan->range_count);
	wire_put(bytes, plan->ranges, plan->range_count * sizeof(*plan->ranges));
	wire_put_number(bytes, named ? (uint32_t)named->count : 0);
	for (i = 0; named && i < named->count; i++)
		wire_put_number(bytes, plan->sightings[i]);
}

/* The words of the kernel's struct pt_regs: what is behind them is the kernel's own. */
#if defined(__x86_64__)
#define REGISTERS 21
#else
#define REGISTERS SAMPLE_REGISTERS
#endif

static bool argument_is_sane(const struct sample_argument *argument)
{
	if (argument->place > SAMPLE_MEMORY || argument->shift > 3 || argument->skip > 63 ||
	    argument->is_signed > 1)
		return false;
	if ((argument->base >= REGISTERS && argument->base != SAMPLE_NO_REGISTER) ||
	    (argument->index >= REGISTERS && argument->index != SAMPLE_NO_REGISTER))
		return false;
	return argument->size == 1 || argument->size == 2 || argument->size == 4 ||
	       argument->size == 8;
}

static bool sample_is_sane(const struct plan_probe *probe)
{
	/* The end of a sample has one argument. */
	size_t count = SHAPE_OP(probe->shape) == CALL_SAMPLE ? SAMPLE_ARGUMENTS : 1, i;

	for (i = 0; i < count; i++)
		if (!argument_is_sane(&probe->sample.arguments[i]))
			return false;
	return true;
}

/* A text of a struct must end within it. */
#define IS_TEXT(field) (memchr((field), 0, sizeof(field)) != NULL)

static bool result_is_sane(uint64_t shape)
{
	return SHAPE_RESULT(shape) <=
	       (SHAPE_OP(shape) == CALL_REALLOC ? RESULT_CHUNK : RESULT_RETRIED);
}

static bool probe_is_sane(const struct plan_probe *probe, uint32_t functions, uint64_t file_size)
{
	return probe->function < functions && probe->site_offset < file_size &&
	       probe->entry_offset < file_size && probe->size <= file_size &&
	       probe->semaphore < file_size && probe->stack_bytes <= CHOICE_STACK_MAX &&
	       SHAPE_OP(probe->shape) <= CALL_PROCESS_END && probe->cost <= COST_OPTIMIZED &&
	       (plan_probe_is_sample(probe) ? sample_is_sane(probe)
					    : result_is_sane(probe->shape)) &&
	       IS_TEXT(probe->instruction) && IS_TEXT(probe->reason) && IS_TEXT(probe->aliases);
}

static void get_functions(struct wire *wire, struct plan *part)
{
	uint32_t count = wire_get_count(wire, FUNCTIONS_MAX), i, id;
	char allocator[WIRE_TEXT_MAX], function[WIRE_TEXT_MAX];

	for (i = 1; i < count && !wire->bad; i++) {
		wire_get_text(wire, allocator);
		wire_get_text(wire, function);
		id = plan_add_function(part, allocator, function);
		/* Each is there once, so they get their numbers again. */
		wire->bad |= id != i;
		part->functions[id].sampled = wire_get_number(wire);
	}
}

static void get_probes(struct wire *wire, struct plan *part, uint64_t file_size)
{
	uint32_t count = wire_get_count(wire, PROBES_MAX), i;
	char symbol[WIRE_TEXT_MAX];

	for (i = 0; i < count && !wire->bad; i++) {
		struct plan_probe probe;

		wire_get(wire, &probe, sizeof(probe));
		wire_get_text(wire, symbol);
		if (!probe_is_sane(&probe, (uint32_t)part->function_count, file_size)) {
			wire->bad = true;
			return;
		}
		/* Its byte may be any. */
		probe.refused = false;
		probe.symbol = plan_keep_text(part, symbol);
		part->probes = memory_grow(part->probes, part->count, &part->capacity,
					   sizeof(*part->probes));
		part->probes[part->count++] = probe;
	}
}

static void get_skips(struct wire *wire, struct plan *part)
{
	uint32_t count = wire_get_count(wire, SKIPS_MAX), i;
	char sentence[WIRE_TEXT_MAX];

	for (i = 0; i < count && !wire->bad; i++) {
		bool lost = wire_get_number(wire);

		wire_get_text(wire, sentence);
		plan_add_skip(part, lost, sentence);
	}
}

static void get_ranges(struct wire *wire, struct plan *part)
{
	uint32_t count = wire_get_count(wire, RANGES_MAX);

	part->ranges = memory_alloc(count, sizeof(*part->ranges));
	wire_get(wire, part->ranges, count * sizeof(*part->ranges));
	part->range_count = part->range_capacity = count;
}

static void get_sightings(struct wire *wire, struct plan *part)
{
	uint32_t count = wire_get_count(wire, NAMED_MAX), i, sighting;
	const struct named_list *named = part->options.named;

	wire->bad |= count != (named ? named->count : 0);
	for (i = 0; i < count && !wire->bad; i++) {
		sighting = wire_get_number(wire);
		wire->bad |= sighting > SIGHTING_FUNCTION;
		part->sightings[i] = (enum plan_sighting)sighting;
	}
}

/* Numbers of functions and samples are those of the whole plan. */
static void add_probe(struct plan *plan, const struct plan *part, const struct plan_probe *from,
		      uint32_t module)
{
	const struct function_name *name = &part->functions[from->function];
	struct plan_probe probe = *from;

	if (plan_has_site(plan, module, probe.site_offset))
		return;
	probe.module = module;
	probe.shape &= SHAPE_OF_FUNCTION;
	if (from->function)
		probe.function = plan_add_function(plan, name->allocator, name->function);
	if ((from->function && !probe.function) ||
	    (plan_probe_is_sample(from) && plan->sample_count == SAMPLE_SITES_MAX)) {
		plan_skip(plan, module, true, "%s: too many functions", from->symbol);
		return;
	}
	if (plan_probe_is_sample(from))
		probe.shape = SHAPE_OF_SAMPLE(SHAPE_OP(from->shape), ++plan->sample_count);
	plan->functions[probe.function].sampled |= name->sampled;
	probe.shape = SHAPE_WITH_FUNCTION(probe.shape, probe.function);
	probe.symbol = plan_keep_text(plan, from->symbol);
	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	plan->probes[plan->count++] = probe;
}

static void add_part(struct plan *plan, const struct plan *part, uint32_t module)
{
	const struct named_list *named = plan->options.named;
	size_t i;

	module_list_get(plan->modules, module)->allocates |= part->allocates;
	for (i = 0; i < part->count; i++)
		add_probe(plan, part, &part->probes[i], module);
	for (i = 0; i < part->skipped_count; i++)
		plan_add_skip(plan, part->skipped[i].lost, part->skipped[i].sentence);
	for (i = 0; i < part->range_count; i++)
		plan_add_range(plan, module, part->ranges[i].low, part->ranges[i].high);
	for (i = 0; named && i < named->count; i++)
		if (part->sightings[i] > SIGHTING_FILE || plan->sightings[i] == SIGHTING_NONE)
			plan->sightings[i] = part->sightings[i];
}

bool plan_wire_add(const struct buffer *bytes, struct plan *plan, uint32_t module,
		   uint64_t file_size)
{
	struct wire wire = wire_begin(bytes);
	struct plan part;
	bool whole;

	plan_init(&part, plan->modules, &plan->options);
	get_functions(&wire, &part);
	get_probes(&wire, &part, file_size);
	part.allocates = wire_get_number(&wire);
	get_skips(&wire, &part);
	get_ranges(&wire, &part);
	get_sightings(&wire, &part);
	whole = wire_is_whole(&wire);
	if (whole)
		add_part(plan, &part, module);
	plan_free(&part);
	return whole;
}
