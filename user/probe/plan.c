/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe plan as a container, which the other parts of the plan fill: see plan.h. */
#include "probe/plan_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The id of a function travels in 16 bits. */
#define FUNCTIONS_MAX 0xffff

void plan_init(struct plan *plan, struct module_list *modules, const struct plan_options *options)
{
	*plan = (struct plan){ .modules = modules, .options = *options };
	plan->functions =
		memory_grow(plan->functions, 0, &plan->function_capacity, sizeof(*plan->functions));
	plan->functions[0] =
		(struct function_name){ .allocator = "unknown", .function = "unknown" };
	plan->function_count = 1;
	if (options->named)
		plan->sightings = memory_alloc(options->named->count, sizeof(*plan->sightings));
}

const char *plan_path(const struct plan *plan, uint32_t module)
{
	const struct module *found = plan->modules ? module_list_get(plan->modules, module) : NULL;

	return found && found->path ? found->path : "unknown file";
}

void plan_skip(struct plan *plan, uint32_t module, bool lost, const char *format, ...)
{
	va_list arguments;
	char sentence[512];

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	plan->skipped = memory_grow(plan->skipped, plan->skipped_count, &plan->skipped_capacity,
				    sizeof(*plan->skipped));
	plan->skipped[plan->skipped_count++] = (struct plan_skip){
		.sentence = memory_format("%s: %s", plan_path(plan, module), sentence),
		.lost = lost,
	};
}

uint32_t plan_function(struct plan *plan, const char *allocator, const char *function)
{
	size_t i;

	for (i = 1; i < plan->function_count; i++)
		if (strcmp(plan->functions[i].allocator, allocator) == 0 &&
		    strcmp(plan->functions[i].function, function) == 0)
			return (uint32_t)i;
	if (plan->function_count > FUNCTIONS_MAX)
		return 0;
	plan->functions = memory_grow(plan->functions, plan->function_count,
				      &plan->function_capacity, sizeof(*plan->functions));
	plan->functions[plan->function_count] =
		(struct function_name){ .allocator = allocator, .function = function };
	return (uint32_t)plan->function_count++;
}

bool plan_has_site(const struct plan *plan, uint32_t module, uint64_t offset)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].module == module && plan->probes[i].site_offset == offset)
			return true;
	return false;
}

void plan_free(struct plan *plan)
{
	size_t i;

	if (!plan)
		return;
	for (i = 0; i < plan->text_count; i++)
		free(plan->texts[i]);
	free(plan->texts);
	for (i = 0; i < plan->skipped_count; i++)
		free(plan->skipped[i].sentence);
	free(plan->skipped);
	free(plan->functions);
	free(plan->sightings);
	free(plan->searched);
	free(plan->ranges);
	free(plan->probes);
	memset(plan, 0, sizeof(*plan));
}
