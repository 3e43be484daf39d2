/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_report.h. */
#include "model/budget_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define STEP 16
#define STEPS_END 1024 /* from here on, a power of two is eight classes */

static const uint64_t age_seconds[BUDGET_AGES] = {
#define X(seconds) seconds,
	BUDGET_AGE_LIST(X)
#undef X
};

struct budget_report *budget_report_new(void)
{
	return memory_alloc(1, sizeof(struct budget_report));
}

static void budget_heap_free(struct budget_heap *heap)
{
	size_t i;

	for (i = 0; i < heap->size_count; i++) {
		free(heap->sizes[i].blocks);
		free(heap->sizes[i].bytes);
	}
	free(heap->sizes);
	free(heap->censuses);
	free(heap->reason);
}

void budget_report_free(struct budget_report *report)
{
	size_t i;

	if (!report)
		return;
	for (i = 0; i < report->site_count; i++)
		free(report->sites[i].cohorts);
	for (i = 0; i < report->heap_count; i++)
		budget_heap_free(&report->heaps[i]);
	free(report->sites);
	free(report->heaps);
	free(report->windows);
	free(report->marks);
	free(report);
}

struct budget_site *budget_report_add_site(struct budget_report *report)
{
	struct budget_site *site;

	report->sites = memory_grow(report->sites, report->site_count, &report->site_capacity,
				    sizeof(*report->sites));
	site = &report->sites[report->site_count++];
	memset(site, 0, sizeof(*site));
	return site;
}

struct budget_heap *budget_report_add_heap(struct budget_report *report)
{
	struct budget_heap *heap;

	report->heaps = memory_grow(report->heaps, report->heap_count, &report->heap_capacity,
				    sizeof(*report->heaps));
	heap = &report->heaps[report->heap_count++];
	memset(heap, 0, sizeof(*heap));
	return heap;
}

struct budget_cohort *budget_site_cohort(struct budget_site *site, uint32_t size_class)
{
	struct budget_cohort *cohort;
	size_t i = site->cohort_count;

	while (i && site->cohorts[i - 1].size_class > size_class)
		i--;
	if (i && site->cohorts[i - 1].size_class == size_class)
		return &site->cohorts[i - 1];
	site->cohorts = memory_grow(site->cohorts, site->cohort_count, &site->cohort_capacity,
				    sizeof(*site->cohorts));
	cohort = &site->cohorts[i];
	memmove(cohort + 1, cohort, (site->cohort_count++ - i) * sizeof(*cohort));
	memset(cohort, 0, sizeof(*cohort));
	cohort->size_class = size_class;
	return cohort;
}

uint32_t budget_size_class(uint64_t size)
{
	unsigned int power;

	if (size < STEPS_END)
		return (uint32_t)(size / STEP);
	power = 63 - (unsigned int)__builtin_clzll(size);
	return STEPS_END / STEP + (power - 10) * 8 + (uint32_t)(size >> (power - 3) & 7);
}

uint64_t budget_size_least(uint32_t size_class)
{
	uint32_t above = size_class - STEPS_END / STEP;

	if (size_class < STEPS_END / STEP)
		return (uint64_t)size_class * STEP;
	return (8 + (uint64_t)(above % 8)) << (above / 8 + 7);
}

enum budget_ages budget_age_class(uint64_t age_ns)
{
	enum budget_ages age = 0;

	while (age + 1 < BUDGET_AGES && age_ns >= budget_age_least_ns(age + 1))
		age++;
	return age;
}

uint64_t budget_age_least_ns(enum budget_ages age)
{
	return age_seconds[age] * 1000000000;
}
