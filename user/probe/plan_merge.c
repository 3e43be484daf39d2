/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the plan that takes over what was planned elsewhere, with texts that the plan keeps itself: see plan.h. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "probe/plan_private.h"

/* As long as one of the plan's own. */
#define SENTENCE_MAX 1024

const char *plan_keep_text(struct plan *plan, const char *text)
{
	struct buffer safe = { 0 };
	size_t i;

	text_append_safe(&safe, text);
	buffer_append_string(&safe, "");
	for (i = 0; i < plan->text_count; i++)
		if (!strcmp(plan->texts[i], safe.data)) {
			buffer_free(&safe);
			return plan->texts[i];
		}
	plan->texts = memory_grow(plan->texts, plan->text_count, &plan->text_capacity,
				  sizeof(*plan->texts));
	plan->texts[plan->text_count] = safe.data;
	return plan->texts[plan->text_count++];
}

uint32_t plan_add_function(struct plan *plan, const char *allocator, const char *function)
{
	return plan_function(plan, plan_keep_text(plan, allocator), plan_keep_text(plan, function));
}

void plan_add_skip(struct plan *plan, bool lost, const char *sentence)
{
	plan->skipped = memory_grow(plan->skipped, plan->skipped_count, &plan->skipped_capacity,
				    sizeof(*plan->skipped));
	plan->skipped[plan->skipped_count++] = (struct plan_skip){
		.sentence = memory_format("%.*s", SENTENCE_MAX, sentence),
		.lost = lost,
	};
}

void plan_add_range(struct plan *plan, uint32_t module, uint64_t low, uint64_t high)
{
	plan->ranges = memory_grow(plan->ranges, plan->range_count, &plan->range_capacity,
				   sizeof(*plan->ranges));
	plan->ranges[plan->range_count++] =
		(struct plan_range){ .module = module, .low = low, .high = high };
}
