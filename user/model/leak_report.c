/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_report.h. */
#include "model/leak_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

const char *leak_root_name(enum leak_root root)
{
	static const char *const names[] = {
#define ROOT_NAME(SYMBOL, name, title) #name,
		LEAK_ROOT_LIST(ROOT_NAME)
#undef ROOT_NAME
	};

	return names[root];
}

const char *leak_root_title(enum leak_root root)
{
	static const char *const titles[] = {
#define ROOT_TITLE(SYMBOL, name, title) title,
		LEAK_ROOT_LIST(ROOT_TITLE)
#undef ROOT_TITLE
	};

	return titles[root];
}

const char *leak_verdict_name(enum leak_verdict verdict)
{
	static const char *const names[] = {
#define VERDICT_NAME(SYMBOL, name) #name,
		LEAK_VERDICT_LIST(VERDICT_NAME)
#undef VERDICT_NAME
	};

	return names[verdict];
}

const char *leak_heuristic_name(enum leak_heuristic heuristic)
{
	static const char *const names[] = {
#define HEURISTIC_NAME(SYMBOL, name) #name,
		LEAK_HEURISTIC_LIST(HEURISTIC_NAME)
#undef HEURISTIC_NAME
	};

	return names[heuristic];
}

const char *leak_before_name(enum leak_before before)
{
	static const char *const names[] = {
#define BEFORE_NAME(SYMBOL, name, words) #name,
		LEAK_BEFORE_LIST(BEFORE_NAME)
#undef BEFORE_NAME
	};

	return names[before];
}

const char *leak_before_words(enum leak_before before)
{
	static const char *const texts[] = {
#define BEFORE_WORDS(SYMBOL, name, words) words,
		LEAK_BEFORE_LIST(BEFORE_WORDS)
#undef BEFORE_WORDS
	};

	return texts[before];
}

void leak_report_sum_before(const struct leak_report *report, struct leak_sum sums[LEAK_BEFORES])
{
	size_t i, k;

	memset(sums, 0, LEAK_BEFORES * sizeof(*sums));
	for (i = 0; i < report->group_count; i++)
		for (k = 0; k < LEAK_BEFORES && report->groups[i].verdict == LEAK_DEFINITE; k++)
			leak_sum_add(&sums[k], &report->groups[i].before[k]);
}

bool leak_report_is_much(uint64_t unknown, uint64_t known)
{
	return unknown > known / 99;
}

bool leak_report_is_partial(const struct leak_report *report)
{
	return report->swapped_bytes || report->unread_bytes || report->pages_unknown ||
	       report->heap_unread || report->kernel_unread || report->frees_unknown ||
	       report->is_restless || !report->has_registers;
}

bool leak_report_is_proof(const struct leak_report *report)
{
	return report->is_quiet && !leak_report_is_partial(report);
}

struct leak_group *leak_report_add_group(struct leak_report *report)
{
	struct leak_group *group;

	report->groups = memory_grow(report->groups, report->group_count, &report->group_capacity,
				     sizeof(*report->groups));
	group = &report->groups[report->group_count++];
	memset(group, 0, sizeof(*group));
	group->kind = group->name = group->note = "";
	return group;
}

static int leak_group_compare(const void *a, const void *b)
{
	const struct leak_group *left = a, *right = b;

	if (left->verdict != right->verdict)
		return compare_numbers(left->verdict, right->verdict);
	if (left->own.bytes + left->indirect.bytes != right->own.bytes + right->indirect.bytes)
		return compare_numbers(right->own.bytes + right->indirect.bytes,
				       left->own.bytes + left->indirect.bytes);
	return compare_numbers(left->address, right->address);
}

void leak_report_sort(struct leak_report *report)
{
	if (report->group_count)
		qsort(report->groups, report->group_count, sizeof(*report->groups),
		      leak_group_compare);
}

void leak_sum_add(struct leak_sum *sum, const struct leak_sum *more)
{
	sum->blocks += more->blocks;
	sum->bytes += more->bytes;
}

void leak_group_clear(struct leak_group *group)
{
	size_t i;

	for (i = 0; i < group->frame_count; i++)
		free(group->frames[i].build_id);
	free(group->frames);
	group->frames = NULL;
	group->frame_count = 0;
}

void leak_report_remark(struct leak_report *report, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_printf(&report->remarks, "%s\n", text);
}

void leak_report_free(struct leak_report *report)
{
	size_t i;

	for (i = 0; i < report->group_count; i++)
		leak_group_clear(&report->groups[i]);
	free(report->groups);
	buffer_free(&report->remarks);
	strings_free(&report->names);
	*report = (struct leak_report){ 0 };
}
