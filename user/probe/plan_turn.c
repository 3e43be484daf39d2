/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the plan that gives up return probes of a file that is probed already: see plan.h. */
#include <linux/types.h>
#include <stdlib.h>

#include "base/memory.h"
#include "probe/plan.h"
#include "tracer_abi.h"

bool plan_avoids_returns(const struct plan *plan)
{
	return plan->options.no_return_probes || plan->walker ||
	       (plan->switching && plan->options.avoid_switching);
}

bool plan_probe_returns(const struct plan_probe *probe)
{
	enum call_op op = SHAPE_OP(probe->shape);
	bool has_result = op == CALL_ALLOC || op == CALL_REALLOC ||
			  (op >= CALL_MMAP && op <= CALL_MREMAP);

	return has_result && !(probe->shape & SHAPE_BY_EXITS);
}

static void plan_append(struct plan *plan, const struct plan_probe *probe)
{
	struct plan_probe copy = *probe;

	copy.turned = true;
	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	plan->probes[plan->count++] = copy;
}

/* Nothing is there any more. The numbers of others do not change. */
static void probe_clear(struct plan_probe *probe)
{
	*probe = (struct plan_probe){ .module = MODULE_NONE,
				      .symbol = probe->symbol,
				      .shape = SHAPE(CALL_LEAVE, 0, 0, 0, RESULT_POINTER,
						     SOURCE_HEAP) };
}

/* How a function is probed by its exits; NULL if it cannot be. */
static const struct plan_probe *plan_find_turned(const struct plan *exits, uint64_t entry_offset)
{
	size_t i;

	for (i = 0; i < exits->count; i++)
		if (exits->probes[i].entry_offset == entry_offset &&
		    exits->probes[i].shape & SHAPE_BY_EXITS)
			return &exits->probes[i];
	return NULL;
}

static void plan_append_turned(struct plan *plan, const struct plan_probe *from,
			       const struct plan_probe *to)
{
	struct plan_probe probe = *to;

	probe.module = from->module;
	probe.function = from->function;
	probe.symbol = from->symbol;
	probe.shape = from->shape | SHAPE_BY_EXITS;
	probe.refused = false;
	if (!plan_has_site(plan, probe.module, probe.site_offset))
		plan_append(plan, &probe);
}

static void plan_append_exits(struct plan *plan, uint32_t module, const struct plan *exits)
{
	struct plan_probe probe;
	size_t i;

	for (i = 0; i < exits->count; i++) {
		if (SHAPE_OP(exits->probes[i].shape) != CALL_LEAVE ||
		    plan_has_site(plan, module, exits->probes[i].site_offset))
			continue;
		probe = exits->probes[i];
		probe.module = module;
		probe.symbol = plan_keep_text(plan, probe.symbol);
		plan_append(plan, &probe);
	}
}

size_t plan_turn(struct plan *plan, size_t first, size_t count, const struct plan *exits)
{
	struct plan_probe *old = memory_alloc(count, sizeof(*old));
	size_t i, kept;

	for (i = 0; i < count; i++) {
		old[i] = plan->probes[first + i];
		probe_clear(&plan->probes[first + i]);
	}
	for (i = 0; i < count; i++)
		if (!plan_probe_returns(&old[i]))
			plan_append(plan, &old[i]);
	kept = plan->count;
	for (i = 0; i < count; i++) {
		const struct plan_probe *turned = plan_find_turned(exits, old[i].entry_offset);

		if (turned && plan_probe_returns(&old[i]))
			plan_append_turned(plan, &old[i], turned);
	}
	if (count)
		plan_append_exits(plan, old[0].module, exits);
	free(old);
	return kept;
}
