/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about a finished plan: see plan.h. */
#include <linux/types.h>

#include "base/text.h"
#include "probe/plan.h"
#include "tracer_abi.h"

size_t plan_count_calls(const struct plan *plan, size_t first, size_t count)
{
	size_t i, calls = 0;

	for (i = first; i < first + count; i++)
		calls += SHAPE_OP(plan->probes[i].shape) < CALL_THROW ||
			 plan_probe_is_sample(&plan->probes[i]);
	return calls;
}

bool plan_is_inside(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (SHAPE_OP(plan->probes[i].shape) == CALL_INSIDE)
			return true;
	return false;
}

bool plan_probe_is_sample(const struct plan_probe *probe)
{
	return SHAPE_OP(probe->shape) == CALL_SAMPLE || SHAPE_OP(probe->shape) == CALL_SAMPLE_END;
}

bool plan_module_samples(const struct plan *plan, uint32_t module)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].module == module && plan_probe_is_sample(&plan->probes[i]))
			return true;
	return false;
}

bool plan_is_in_allocator(const struct plan *plan, uint32_t module, uint64_t offset)
{
	size_t i;

	for (i = 0; i < plan->range_count; i++)
		if (plan->ranges[i].module == module && offset >= plan->ranges[i].low &&
		    offset < plan->ranges[i].high)
			return true;
	return false;
}

/* Counting twice */

static bool probe_is_function(const struct plan_probe *probe)
{
	return SHAPE_OP(probe->shape) <= CALL_FREE && !(probe->shape & SHAPE_NAMED);
}

/* The first file whose probes `is_wanted`; NULL if there is none. */
static const struct module *plan_first_file(const struct plan *plan,
					    bool (*is_wanted)(const struct plan_probe *probe))
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (is_wanted(&plan->probes[i]))
			return module_list_get(plan->modules, plan->probes[i].module);
	return NULL;
}

bool plan_describe_overlap(const struct plan *plan, struct buffer *out)
{
	const struct module *sampled = plan_first_file(plan, plan_probe_is_sample);
	const struct module *whole = plan_first_file(plan, probe_is_function);

	if (!sampled || !whole || sampled == whole)
		return false;
	text_append_safe(out, sampled->path);
	buffer_append_string(out, " is sampled, and every call is counted in ");
	text_append_safe(out, whole->path);
	buffer_append_string(out, ": memory that the first takes from the second counts twice, "
				  "unless the pointers are equal (try --usdt only)");
	return true;
}
