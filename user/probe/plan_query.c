/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about a finished plan: see plan.h. */
#include <errno.h>
#include <linux/types.h>

#include "probe/plan.h"
#include "tracer_abi.h"

size_t plan_count_calls(const struct plan *plan, size_t first, size_t count)
{
	size_t i, calls = 0;

	for (i = first; i < first + count; i++)
		calls += SHAPE_OP(plan->probes[i].shape) < CALL_THROW;
	return calls;
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
