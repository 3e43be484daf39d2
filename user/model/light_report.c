/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See light_report.h. */
#include "model/light_report.h"

#include <stdlib.h>

#include "base/memory.h"

struct light_report *light_report_new(void)
{
	return memory_alloc(1, sizeof(struct light_report));
}

void light_report_free(struct light_report *report)
{
	size_t i;

	if (!report)
		return;
	for (i = 0; i < report->count; i++)
		free(report->heaps[i].reason);
	free(report->heaps);
	free(report);
}

struct light_heap *light_report_add(struct light_report *report)
{
	report->heaps = memory_grow(report->heaps, report->count, &report->capacity,
				    sizeof(*report->heaps));
	report->heaps[report->count] = (struct light_heap){ 0 };
	return &report->heaps[report->count++];
}
