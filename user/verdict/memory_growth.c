/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_growth.h. Rows are compared in the order of their names, so that any number of them takes little time. */
#include "verdict/memory_growth.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"

/* Any order in which a missing text comes first. */
static int growth_compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

/* Classes */

static int growth_compare_class_names(const void *a, const void *b)
{
	const struct memory_class *left = *(const struct memory_class *const *)a;
	const struct memory_class *right = *(const struct memory_class *const *)b;

	return growth_compare_text(left->name, right->name);
}

static uint64_t growth_class_bytes(const struct memory_class *class)
{
	return class->slot_bytes + class->other_bytes;
}

static int growth_compare_classes(const void *a, const void *b)
{
	const struct memory_class *left = a, *right = b;
	uint64_t bytes = growth_class_bytes(left), other = growth_class_bytes(right);

	if (left->growth_bytes != right->growth_bytes)
		return left->growth_bytes > right->growth_bytes ? -1 : 1;
	if (bytes != other)
		return bytes > other ? -1 : 1;
	return growth_compare_text(left->name, right->name);
}

/* Without native bytes where they are not known in one of two looks. */
static int64_t growth_of_class(const struct memory_class *class, const struct memory_class *old,
			       bool with_native)
{
	uint64_t bytes = growth_class_bytes(class), before = old ? growth_class_bytes(old) : 0;

	if (!with_native) {
		bytes -= class->native_bytes;
		before -= old ? old->native_bytes : 0;
	}
	return (int64_t)(bytes - before);
}

static void growth_find_classes(struct memory_runtime *runtime, const struct memory_runtime *before)
{
	const struct memory_class **sorted = memory_alloc(before->class_count + 1, sizeof(*sorted));
	bool with_native = !runtime->blocks_unknown && !before->blocks_unknown;
	size_t i;

	for (i = 0; i < before->class_count; i++)
		sorted[i] = &before->classes[i];
	qsort(sorted, before->class_count, sizeof(*sorted), growth_compare_class_names);
	for (i = 0; i < runtime->class_count; i++) {
		struct memory_class *class = &runtime->classes[i];
		const struct memory_class *const *old =
			bsearch(&(const struct memory_class *){ class }, sorted,
				before->class_count, sizeof(*sorted), growth_compare_class_names);

		class->growth_bytes = growth_of_class(class, old ? *old : NULL, with_native);
		class->growth_objects = (int64_t)(class->live + class->newborn -
						  (old ? (*old)->live + (*old)->newborn : 0));
	}
	free(sorted);
	if (runtime->class_count)
		qsort(runtime->classes, runtime->class_count, sizeof(*runtime->classes),
		      growth_compare_classes);
}

static void growth_find_runtime(struct memory_runtime *runtime, const struct memory_runtime *before)
{
	/* Of Python's, the objects that are blocks of malloc's would come and go. */
	if (runtime->blocks_unknown == before->blocks_unknown ||
	    strcmp(runtime->name, "python") != 0)
		growth_find_classes(runtime, before);
	else
		buffer_append_string(&runtime->remarks,
				     "what has grown is not known: in one of the two looks large "
				     "objects are not counted\n");
}

static void growth_find_runtimes(struct memory_report *report, const struct memory_report *before)
{
	size_t i, n;

	for (i = 0; i < report->runtime_count; i++)
		for (n = 0; n < before->runtime_count; n++)
			if (!strcmp(report->runtimes[i].name, before->runtimes[n].name))
				growth_find_runtime(&report->runtimes[i], &before->runtimes[n]);
}

/* Kinds */

static int growth_compare_kind_names(const void *a, const void *b)
{
	const struct memory_kind *left = *(const struct memory_kind *const *)a;
	const struct memory_kind *right = *(const struct memory_kind *const *)b;
	int order = growth_compare_text(left->kind, right->kind);

	if (!order)
		order = growth_compare_text(left->name, right->name);
	if (!order)
		order = growth_compare_text(left->holder, right->holder);
	return order ? order : (left->size > right->size) - (left->size < right->size);
}

static int growth_compare_kinds(const void *a, const void *b)
{
	const struct memory_kind *left = a, *right = b;

	if (left->growth_bytes != right->growth_bytes)
		return left->growth_bytes > right->growth_bytes ? -1 : 1;
	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return growth_compare_kind_names(&left, &right);
}

static void growth_find_kinds(struct memory_report *report, const struct memory_report *before)
{
	const struct memory_kind **sorted = memory_alloc(before->kind_count + 1, sizeof(*sorted));
	size_t i;

	for (i = 0; i < before->kind_count; i++)
		sorted[i] = &before->kinds[i];
	qsort(sorted, before->kind_count, sizeof(*sorted), growth_compare_kind_names);
	for (i = 0; i < report->kind_count; i++) {
		struct memory_kind *kind = &report->kinds[i];
		const struct memory_kind *const *old;

		/* Where blocks were followed, that is known by these. */
		if (kind->born != HEAP_UNKNOWN || report->growth_unknown & MEMORY_CUT_ROWS)
			continue;
		old = bsearch(&(const struct memory_kind *){ kind }, sorted, before->kind_count,
			      sizeof(*sorted), growth_compare_kind_names);

		kind->growth_bytes = (int64_t)(kind->bytes - (old ? (*old)->bytes : 0));
		kind->growth_blocks = (int64_t)(kind->blocks - (old ? (*old)->blocks : 0));
	}
	free(sorted);
	if (report->kind_count)
		qsort(report->kinds, report->kind_count, sizeof(*report->kinds),
		      growth_compare_kinds);
}

static void growth_find_heaps(struct memory_report *report, const struct memory_report *before)
{
	size_t i, n;

	for (i = 0; i < report->heap_count; i++)
		for (n = 0; n < before->heap_count; n++) {
			struct heap_totals *heap = &report->heaps[i];

			if (strcmp(heap->allocator, before->heaps[n].allocator) != 0)
				continue;
			heap->growth_bytes =
				(int64_t)(heap->live_bytes - before->heaps[n].live_bytes);
			heap->growth_live_resident =
				(int64_t)(heap->live_resident - before->heaps[n].live_resident);
			heap->growth_blocks =
				(int64_t)(heap->live_blocks - before->heaps[n].live_blocks);
		}
}

/* "Not all of the heaps, runtimes and files was seen in one of the two looks: growth of these is not known." */
static void growth_remark_unknown(struct memory_report *report)
{
	struct buffer names = { 0 };
	unsigned int i, left = report->growth_unknown;

	for (i = 0; left; i++) {
		if (!(left & 1u << i))
			continue;
		left &= ~(1u << i);
		buffer_printf(&names, "%s%s",
			      !names.length ? ""
			      : left	    ? ", "
					    : " and ",
			      memory_cut_title(i));
	}
	memory_report_remark(report,
			     "One of the two looks has not seen all of this: %s. How much of it "
			     "has grown is not known.",
			     names.data);
	buffer_free(&names);
}

/* Where holders are searched in no look, the rows of kinds are alike. */
static unsigned int growth_find_unknown(const struct memory_report *report,
					const struct memory_report *before)
{
	unsigned int either = (report->cut | before->cut) & ~(unsigned int)MEMORY_CUT_HOLDERS;

	return either | ((report->cut ^ before->cut) & MEMORY_CUT_HOLDERS);
}

void memory_growth_find(struct memory_report *report, const struct memory_report *before)
{
	report->pss_before_unknown = before->pss_unknown;
	if (report->group.known && before->group.known)
		report->group.growth_bytes =
			(int64_t)(report->group.usage_bytes - before->group.usage_bytes);
	report->growth_unknown = growth_find_unknown(report, before);
	if (report->growth_unknown)
		growth_remark_unknown(report);
	free(report->parts_before);
	report->parts_before = memory_alloc(PURPOSE_COUNT, sizeof(*report->parts_before));
	memcpy(report->parts_before, before->parts, sizeof(before->parts));
	if (!(report->growth_unknown & MEMORY_CUT_HEAPS))
		growth_find_heaps(report, before);
	if (!(report->growth_unknown & MEMORY_CUT_RUNTIMES))
		growth_find_runtimes(report, before);
	growth_find_kinds(report, before);
}

void memory_growth_list(const struct memory_runtime *runtime, size_t max,
			struct grown_classes *ret_classes)
{
	size_t i;

	*ret_classes =
		(struct grown_classes){ memory_alloc(max + 1, sizeof(ret_classes->items[0])), 0 };
	for (i = 0; i < runtime->class_count && ret_classes->count < max; i++) {
		const struct memory_class *class = &runtime->classes[i];

		if (class->growth_objects <= 0 || class->growth_bytes <= 0)
			continue;
		ret_classes->items[ret_classes->count++] =
			(struct grown_class){ class->name ? memory_copy_string(class->name) : NULL,
					      (uint64_t) class->growth_objects };
	}
}

void memory_growth_free_classes(struct grown_classes *classes)
{
	size_t i;

	for (i = 0; i < classes->count; i++)
		free(classes->items[i].name);
	free(classes->items);
	*classes = (struct grown_classes){ 0 };
}

void memory_growth_describe(const struct grown_classes *classes, struct buffer *text)
{
	char count[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < classes->count; i++)
		buffer_printf(text, "%s%s +%s", i ? ", " : "",
			      classes->items[i].name ? classes->items[i].name : "(no class)",
			      units_format_count(classes->items[i].objects, count));
}
