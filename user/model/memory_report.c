/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_report.h. */
#include "model/memory_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ADD(items, count, capacity)                                              \
	((items) = memory_grow((items), (count), &(capacity), sizeof(*(items))), \
	 memset(&(items)[(count)], 0, sizeof(*(items))), &(items)[(count)++])

struct heap_totals *memory_report_add_heap(struct memory_report *report)
{
	return ADD(report->heaps, report->heap_count, report->heap_capacity);
}

struct memory_kind *memory_report_add_kind(struct memory_report *report)
{
	return ADD(report->kinds, report->kind_count, report->kind_capacity);
}

struct memory_copies *memory_report_add_copies(struct memory_report *report)
{
	return ADD(report->copies, report->copy_count, report->copy_capacity);
}

struct memory_runtime *memory_report_add_runtime(struct memory_report *report)
{
	return ADD(report->runtimes, report->runtime_count, report->runtime_capacity);
}

struct memory_class *memory_runtime_add_class(struct memory_runtime *runtime)
{
	return ADD(runtime->classes, runtime->class_count, runtime->class_capacity);
}

struct memory_longest *memory_runtime_add_longest(struct memory_runtime *runtime)
{
	return ADD(runtime->longest, runtime->longest_count, runtime->longest_capacity);
}

struct memory_process *memory_report_add_member(struct memory_report *report)
{
	return ADD(report->members, report->member_count, report->member_capacity);
}

void memory_report_add_verdict(struct memory_report *report, const struct memory_verdict *verdict)
{
	*ADD(report->verdicts, report->verdict_count, report->verdict_capacity) = *verdict;
}

void memory_report_remark(struct memory_report *report, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_printf(&report->remarks, "%s\n", text);
}

/* In the order of enum memory_cut. */
static const struct {
	const char *name, *title;
} cuts[MEMORY_CUT_COUNT] = {
	{ "pages", "pages in memory" }, { "threads", "threads" },
	{ "heaps", "the heaps" },	{ "runtimes", "runtimes" },
	{ "kinds", "kinds of blocks" }, { "modules", "modules" },
	{ "files", "files" },		{ "holders", "what holds blocks" },
};

const char *memory_cut_name(unsigned int number)
{
	return cuts[number].name;
}

const char *memory_cut_title(unsigned int number)
{
	return cuts[number].title;
}

/* What has to be seen completely for a part to be: what claims it, and for what is left over all that claims. */
static unsigned int report_part_needs(enum purpose purpose)
{
	if (purpose <= PURPOSE_ENDED_STACK)
		return MEMORY_CUT_PAGES | MEMORY_CUT_THREADS;
	if (purpose <= PURPOSE_MALLOC_LARGE)
		return MEMORY_CUT_PAGES | MEMORY_CUT_HEAPS;
	if (purpose <= PURPOSE_JIT)
		return MEMORY_CUT_PAGES | MEMORY_CUT_HEAPS | MEMORY_CUT_RUNTIMES;
	if (purpose <= PURPOSE_BSS)
		return MEMORY_CUT_PAGES | MEMORY_CUT_MODULES;
	return MEMORY_CUT_PAGES | MEMORY_CUT_THREADS | MEMORY_CUT_HEAPS | MEMORY_CUT_RUNTIMES |
	       MEMORY_CUT_MODULES | MEMORY_CUT_FILES;
}

bool memory_report_growth_of_part(const struct memory_report *report, enum purpose purpose,
				  int64_t *ret_growth)
{
	if (!report->parts_before || report->growth_unknown & report_part_needs(purpose))
		return false;
	*ret_growth = (int64_t)(report->parts[purpose].rss - report->parts_before[purpose].rss);
	return true;
}

bool memory_report_has_kind_growth(const struct memory_report *report,
				   const struct memory_kind *kind)
{
	return report->since_ns &&
	       (kind->born != HEAP_UNKNOWN || !(report->growth_unknown & MEMORY_CUT_ROWS));
}

bool memory_report_has_class_growth(const struct memory_report *report)
{
	return report->since_ns && !(report->growth_unknown & MEMORY_CUT_RUNTIMES);
}

uint64_t memory_report_rss(const struct memory_report *report)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < PURPOSE_COUNT; i++)
		bytes += report->parts[i].rss;
	return bytes;
}

static void memory_class_free(struct memory_class *class)
{
	size_t i;

	for (i = 0; i < class->holder_count; i++)
		free(class->holders[i]);
	free(class->holders);
}

void memory_runtime_free(struct memory_runtime *runtime)
{
	size_t i;

	for (i = 0; i < runtime->class_count; i++)
		memory_class_free(&runtime->classes[i]);
	free(runtime->classes);
	for (i = 0; i < runtime->longest_count; i++) {
		free(runtime->longest[i].sample);
		free(runtime->longest[i].holder);
	}
	free(runtime->longest);
	free(runtime->files);
	buffer_free(&runtime->remarks);
	*runtime = (struct memory_runtime){ 0 };
}

void memory_report_free(struct memory_report *report)
{
	size_t i;

	if (!report)
		return;
	for (i = 0; i < report->heap_count; i++)
		heap_totals_free(&report->heaps[i]);
	for (i = 0; i < report->runtime_count; i++)
		memory_runtime_free(&report->runtimes[i]);
	for (i = 0; i < report->verdict_count; i++) {
		free(report->verdicts[i].text);
		free(report->verdicts[i].remedy);
	}
	free(report->members);
	free(report->parts_before);
	free(report->heaps);
	free(report->kinds);
	free(report->copies);
	free(report->runtimes);
	free(report->verdicts);
	buffer_free(&report->remarks);
	strings_free(&report->names);
	*report = (struct memory_report){ 0 };
}
