/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See light_plan.h. */
#include "windows/light_plan.h"

#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "heap/census_all.h"
#include "tracer_abi.h"

/* The libraries of C++ have no heap of their own: their operators call the C library's functions, or what replaces these. */
static bool module_is_cxx_library(const struct module *module)
{
	static const char *const names[] = { "libstdc++.so", "libc++.so", "libc++abi.so" };
	const char *slash = module ? strrchr(module->path, '/') : NULL;
	const char *name = slash ? slash + 1 : "";
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool probe_is_known(const struct plan *plan, const struct plan_probe *probe)
{
	return census_knows(plan->functions[probe->function].allocator) ||
	       module_is_cxx_library(module_list_get(plan->modules, probe->module));
}

/* Does it hand out blocks of a heap? */
static bool probe_allocates(const struct plan_probe *probe)
{
	return SHAPE_SOURCE(probe->shape) == SOURCE_HEAP &&
	       (SHAPE_OP(probe->shape) == CALL_ALLOC || SHAPE_OP(probe->shape) == CALL_REALLOC);
}

enum light_blocks light_plan_blocks(const struct plan *plan, uint32_t function)
{
	size_t i;

	if (function < plan->function_count && census_knows(plan->functions[function].allocator))
		return LIGHT_BLOCKS_EXACT;
	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].function == function && probe_allocates(&plan->probes[i]) &&
		    !probe_is_known(plan, &plan->probes[i]))
			return LIGHT_BLOCKS_ELSEWHERE;
	return LIGHT_BLOCKS_LARGER;
}

enum light_blocks light_plan_blocks_of_site(const void *context, uint64_t key)
{
	const struct light_sites *sites = context;
	const struct known_site *site = sites_get(sites->sites, key);

	return site ? light_plan_blocks(sites->plan, site->record.function)
		    : LIGHT_BLOCKS_ELSEWHERE;
}

int light_plan_check(const struct plan *plan, struct error *error)
{
	size_t i;

	for (i = 0; i < plan->count; i++) {
		const struct plan_probe *probe = &plan->probes[i];

		if (!probe_allocates(probe) || probe_is_known(plan, probe))
			continue;
		return error_set(
			error, ERROR_NOTHING, -ENOTSUP,
			"--light reads from the heap what is in use, and nothing is known of "
			"that of %s in %s (allocator: %s); trace without --light, or with "
			"--budget",
			probe->symbol, module_list_get(plan->modules, probe->module)->path,
			plan->functions[probe->function].allocator);
	}
	return 0;
}
