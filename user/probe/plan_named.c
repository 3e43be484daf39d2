/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the plan that is about functions named on the command line. */
#include <errno.h>
#include <linux/types.h>

#include "base/memory.h"
#include "probe/plan_private.h"
#include "tracer_abi.h"

size_t plan_named_rows(struct plan *plan, uint32_t module, struct elf_file *file,
		       const struct allocator_function ***ret_rows)
{
	const struct named_list *named = plan->options.named;
	size_t i, count = 0;

	*ret_rows = memory_alloc(named ? named->count : 0, sizeof(**ret_rows));
	for (i = 0; named && i < named->count; i++) {
		if (!named_matches(&named->items[i], plan_path(plan, module)))
			continue;
		if (named_stack_moves(&named->items[i], file)) {
			plan->sightings[i] = SIGHTING_MOVING;
			continue;
		}
		(*ret_rows)[count++] = &named->items[i].row;
		if (plan->sightings[i] == SIGHTING_NONE)
			plan->sightings[i] = SIGHTING_FILE;
	}
	return count;
}

void plan_see_named(struct plan *plan, const struct scan *scan)
{
	const struct named_list *named = plan->options.named;
	size_t i, j;

	for (i = 0; named && i < named->count; i++)
		for (j = 0; j < scan->count; j++)
			if (scan->items[j].row == &named->items[i].row)
				plan->sightings[i] = SIGHTING_FUNCTION;
}

int plan_check_named(const struct plan *plan, const struct log *log, struct error *error)
{
	const struct named_list *named = plan->options.named;
	size_t i;

	for (i = 0; named && i < named->count; i++) {
		const struct named_function *item = &named->items[i];

		if (plan->sightings[i] == SIGHTING_MOVING)
			return error_set(
				error, ERROR_NOTHING, -ENOTSUP,
				"'%s': %s is Go, which moves its stacks: a probe on the return "
				"of a function of its own would end it (functions of C in it "
				"can be probed)",
				item->text, item->file);
		if (plan->sightings[i] == SIGHTING_FILE)
			return error_set(error, ERROR_NOTHING, -ENOENT,
					 "'%s': %s defines no function %s (nm, or nm -D, lists "
					 "what it does define)",
					 item->text, item->file, item->symbol);
		if (plan->sightings[i] == SIGHTING_NONE)
			log_write(log, LOG_NOTICE, "'%s': no file of the name %s is mapped so far",
				  item->text, item->file);
	}
	return 0;
}
