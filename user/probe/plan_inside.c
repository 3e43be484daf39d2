/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the plan that is about probes inside of functions that allocate. */
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "probe/choice.h"
#include "probe/exits.h"
#include "probe/inside.h"
#include "probe/plan_private.h"
#include "tracer_abi.h"

/* More than malloc or calloc of any release has. */
#define FUNCTION_MAX 8192

static bool inside_returns_first(void *context, uint64_t target)
{
	return exits_returns_argument(context, target);
}

/* The probe of a function whose return is probed, too; NULL = there is none. */
static struct plan_probe *plan_find_call(struct plan *plan, uint32_t module, const char *symbol)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].module == module && !strcmp(plan->probes[i].symbol, symbol) &&
		    plan_probe_returns(&plan->probes[i]) && plan->probes[i].size <= FUNCTION_MAX)
			return &plan->probes[i];
	return NULL;
}

static struct plan_probe inside_probe(const struct plan_probe *call, const struct inside_site *site)
{
	const uint64_t shape = SHAPE(site->is_call ? CALL_INSIDE_SIZE : CALL_INSIDE, site->size,
				     site->saved_bp, site->result, RESULT_POINTER, SOURCE_HEAP);
	struct plan_probe probe = {
		.module = call->module,
		.function = call->function,
		.symbol = site->is_call ? "(size)" : "(block)",
		.shape = SHAPE_WITH_FUNCTION(shape, call->function),
		.entry_offset = call->entry_offset,
		.site_offset = call->entry_offset + site->offset,
		.stack_bytes = site->stack_bytes,
		.cost = COST_EMULATED,
	};

	snprintf(probe.instruction, sizeof(probe.instruction), "%s",
		 site->is_call ? "call" : "je/jne");
	snprintf(probe.reason, sizeof(probe.reason), "inside of %.40s, %s", call->symbol,
		 site->is_call ? "where the size is last known" : "with the block in a register");
	return probe;
}

/* Can all be probed, without a single step? */
static const char *inside_refuse(const struct plan *plan, const struct plan_probe *call,
				 const uint8_t *code, const struct inside *inside)
{
	size_t i;

	for (i = 0; i < inside->count; i++) {
		uint64_t at = inside->sites[i].offset;

		if (trap_cost(code + at, inside->sites[i].length, call->entry_offset + at,
			      &plan->options.features) != COST_EMULATED)
			return "the kernel single-steps an instruction of it";
		if (plan_has_site(plan, call->module, call->entry_offset + at))
			return "another probe stands there";
	}
	return NULL;
}

static const char *plan_add_inside_of(struct plan *plan, struct elf_file *file, uint32_t module,
				      const char *symbol, uint64_t *allocates)
{
	struct plan_probe *call = plan_find_call(plan, module, symbol), from;
	const char *refusal;
	struct inside inside;
	uint8_t *code;
	size_t i;

	if (!call || !call->size)
		return "its return is not probed";
	code = memory_alloc(call->size, 1);
	if (elf_file_read(file, call->entry_offset, code, call->size) != call->size)
		refusal = "not all of it can be read";
	else if (!inside_find(code, call->size, call->entry_offset, SHAPE_COUNT_ARG(call->shape),
			      *allocates, inside_returns_first, file, &inside))
		refusal = inside.refusal;
	else
		refusal = inside_refuse(plan, call, code, &inside);
	free(code);
	if (refusal)
		return refusal;
	*allocates = inside.allocates;
	call->shape |= (uint64_t)RESULT_INSIDE << 16;
	from = *call;
	for (i = 0; i < inside.count; i++) {
		plan->probes = memory_grow(plan->probes, plan->count, &plan->capacity,
					   sizeof(*plan->probes));
		plan->probes[plan->count++] = inside_probe(&from, &inside.sites[i]);
	}
	return NULL;
}

void plan_add_inside(struct plan *plan, uint32_t module, struct elf_file *file)
{
	static const char *const symbols[] = { "malloc", "calloc" };
	uint64_t allocates = 0;
	const char *refusal;
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		refusal = plan_add_inside_of(plan, file, module, symbols[i], &allocates);
		if (refusal)
			plan_skip(plan, module, false,
				  "%s is probed by its return, which is two traps, and not inside: "
				  "%s",
				  symbols[i], refusal);
	}
}
