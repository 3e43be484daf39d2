/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_sum.h. */
#include "memory/memory_sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/table.h"
#include "model/heap_totals.h"

static struct memory_runtime *sum_row(struct memory_report *sum,
				      const struct memory_runtime *runtime)
{
	struct memory_runtime *row;
	size_t i;

	for (i = 0; i < sum->runtime_count; i++)
		if (!strcmp(sum->runtimes[i].name, runtime->name) &&
		    !strcmp(sum->runtimes[i].version, runtime->version))
			return &sum->runtimes[i];
	row = memory_report_add_runtime(sum);
	row->name = runtime->name;
	memcpy(row->version, runtime->version, sizeof(row->version));
	row->after_major = true;
	return row;
}

/* What holds objects is that of the first process that has any. */
static void sum_holders(struct memory_class *row, const struct memory_class *class)
{
	size_t i;

	if (row->holder_count || !class->holder_count)
		return;
	row->holders = memory_alloc(class->holder_count, sizeof(row->holders[0]));
	for (i = 0; i < class->holder_count; i++)
		row->holders[i] = memory_copy_string(class->holders[i]);
	row->holder_count = class->holder_count;
	row->holder_percent = class->holder_percent;
}

static void sum_class(struct memory_class *row, const struct memory_class *class)
{
	row->live += class->live;
	row->newborn += class->newborn;
	row->garbage += class->garbage;
	row->old += class->old;
	row->slot_bytes += class->slot_bytes;
	row->other_bytes += class->other_bytes;
	row->native_bytes += class->native_bytes;
	row->retained += class->retained;
	sum_holders(row, class);
}

static int sum_compare(const void *left, const void *right)
{
	const struct memory_class *a = left, *b = right;
	uint64_t bytes_a = a->slot_bytes + a->other_bytes, bytes_b = b->slot_bytes + b->other_bytes;

	return bytes_a == bytes_b ? compare_texts(a->name, b->name)
				  : compare_numbers(bytes_b, bytes_a);
}

static void sum_classes(struct memory_report *sum, struct memory_runtime *row,
			const struct memory_runtime *runtime)
{
	struct table places = { 0 }; /* name -> position + 1 */
	size_t i;

	for (i = 0; i < row->class_count; i++)
		table_put(&places, (uintptr_t)row->classes[i].name, (void *)(uintptr_t)(i + 1));
	for (i = 0; i < runtime->class_count; i++) {
		const char *name = strings_keep(&sum->names, runtime->classes[i].name);
		uintptr_t place = (uintptr_t)table_get(&places, (uintptr_t)name);

		if (!place) {
			memory_runtime_add_class(row)->name = name;
			place = row->class_count;
			table_put(&places, (uintptr_t)name, (void *)place);
		}
		sum_class(&row->classes[place - 1], &runtime->classes[i]);
	}
	if (row->class_count)
		qsort(row->classes, row->class_count, sizeof(row->classes[0]), sum_compare);
	table_free(&places);
}

void memory_sum_runtimes(struct memory_report *sum, const struct memory_report *report,
			 struct memory_remarks *remarks)
{
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_runtime *runtime = &report->runtimes[i];
		struct memory_runtime *row = sum_row(sum, runtime);

		row->pages += runtime->pages;
		row->page_bytes += runtime->page_bytes;
		row->sparse_pages += runtime->sparse_pages;
		row->free_bytes += runtime->free_bytes;
		memcpy(row->gc_thresholds, runtime->gc_thresholds, sizeof(row->gc_thresholds));
		heap_totals_add_known(&row->slots, runtime->slots);
		heap_totals_add_known(&row->free_slots, runtime->free_slots);
		heap_totals_add_known(&row->minor_gcs, runtime->minor_gcs);
		heap_totals_add_known(&row->major_gcs, runtime->major_gcs);
		heap_totals_add_known(&row->gc_ns, runtime->gc_ns);
		row->after_major &= runtime->after_major;
		row->blocks_unknown |= runtime->blocks_unknown;
		memory_remarks_add(remarks, sum, REMARK_RUNTIME, (size_t)(row - sum->runtimes),
				   &runtime->remarks);
		sum_classes(sum, row, runtime);
	}
}

/* The row of the same kind, name, holder and size; NULL = there is none. Strings of `sum` are in its pool. */
static struct memory_kind *sum_find_kind(struct memory_report *sum, const struct memory_kind *kind)
{
	size_t i;

	for (i = 0; i < sum->kind_count; i++) {
		struct memory_kind *row = &sum->kinds[i];

		if (row->size == kind->size && row->name == kind->name &&
		    row->holder == kind->holder && !strcmp(row->kind, kind->kind))
			return row;
	}
	return NULL;
}

static int sum_compare_kinds(const void *left, const void *right)
{
	const struct memory_kind *a = left, *b = right;

	return a->bytes == b->bytes ? compare_numbers(b->blocks, a->blocks)
				    : compare_numbers(b->bytes, a->bytes);
}

void memory_sum_kinds(struct memory_report *sum, const struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->kind_count; i++) {
		struct memory_kind kind = report->kinds[i], *row;

		kind.name = strings_keep(&sum->names, kind.name);
		kind.holder = strings_keep(&sum->names, kind.holder);
		kind.sample = strings_keep(&sum->names, kind.sample);
		row = sum_find_kind(sum, &kind);
		if (!row) {
			*memory_report_add_kind(sum) = kind;
			continue;
		}
		row->blocks += kind.blocks;
		row->bytes += kind.bytes;
		/* At most: that of each may be on the same side. */
		row->blocks_error += kind.blocks_error;
		row->bytes_error += kind.bytes_error;
		heap_totals_add_known(&row->born, kind.born);
		heap_totals_add_known(&row->gone, kind.gone);
		heap_totals_add_known(&row->unchanged, kind.unchanged);
		heap_totals_add_known(&row->written, kind.written);
		heap_totals_add_known(&row->retained, kind.retained);
	}
	if (sum->kind_count)
		qsort(sum->kinds, sum->kind_count, sizeof(sum->kinds[0]), sum_compare_kinds);
}

static int sum_compare_copies(const void *left, const void *right)
{
	const struct memory_copies *a = left, *b = right;

	return compare_numbers(b->bytes, a->bytes);
}

static const char *sum_text(struct memory_report *sum, const char *text)
{
	const char *kept = strings_keep(&sum->names, text);

	return kept ? kept : "";
}

/* Those of several processes stay apart. */
static void sum_copies(struct memory_report *sum, const struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->copy_count; i++) {
		struct memory_copies *copies = memory_report_add_copies(sum);

		*copies = report->copies[i];
		copies->name = sum_text(sum, copies->name);
		copies->holder = sum_text(sum, copies->holder);
		copies->sample = sum_text(sum, copies->sample);
	}
	if (sum->copy_count)
		qsort(sum->copies, sum->copy_count, sizeof(sum->copies[0]), sum_compare_copies);
}

static void sum_process(struct memory_process *sum, const struct memory_process *process)
{
	sum->rss_bytes += process->rss_bytes;
	sum->rss_after_bytes += process->rss_after_bytes;
	sum->pss_bytes += process->pss_bytes;
	sum->swap_bytes += process->swap_bytes;
	sum->mapped_bytes += process->mapped_bytes;
	heap_totals_add_known(&sum->huge_bytes, process->huge_bytes);
	heap_totals_add_known(&sum->huge_zero_bytes, process->huge_zero_bytes);
	sum->threads += process->threads;
	sum->mappings += process->mappings;
	sum->malloc_free_bytes += process->malloc_free_bytes;
}

static void sum_kernel(struct memory_kernel *sum, const struct memory_kernel *kernel)
{
	heap_totals_add_known(&sum->table_bytes, kernel->table_bytes);
	heap_totals_add_known(&sum->stack_bytes, kernel->stack_bytes);
	heap_totals_add_known(&sum->hugetlb_bytes, kernel->hugetlb_bytes);
	heap_totals_add_known(&sum->sockets, kernel->sockets);
	heap_totals_add_known(&sum->queued_bytes, kernel->queued_bytes);
	heap_totals_add_known(&sum->pipes, kernel->pipes);
	heap_totals_add_known(&sum->files, kernel->files);
	heap_totals_add_known(&sum->other_files, kernel->other_files);
}

/* The heaps of one allocator are one row. */
static void sum_heap(struct memory_report *sum, const struct heap_totals *heap,
		     struct memory_remarks *remarks)
{
	struct heap_totals *row = NULL, figures = *heap;
	size_t i;

	for (i = 0; i < sum->heap_count && !row; i++)
		if (!strcmp(sum->heaps[i].allocator, heap->allocator))
			row = &sum->heaps[i];
	if (!row) {
		row = memory_report_add_heap(sum);
		row->allocator = heap->allocator;
		memcpy(row->version, heap->version, sizeof(row->version));
	}
	figures.remarks = (struct buffer){ 0 };
	heap_totals_add(row, &figures);
	memory_remarks_add(remarks, sum, REMARK_HEAP, (size_t)(row - sum->heaps), &heap->remarks);
}

void memory_sum_add(struct memory_report *sum, const struct memory_report *report,
		    struct memory_remarks *remarks)
{
	size_t i;

	*memory_report_add_member(sum) = report->process;
	sum_process(&sum->process, &report->process);
	for (i = 0; i < PURPOSE_COUNT; i++)
		purpose_sum_add(&sum->parts[i], &report->parts[i]);
	for (i = 0; i < report->heap_count; i++)
		sum_heap(sum, &report->heaps[i], remarks);
	memory_sum_runtimes(sum, report, remarks);
	memory_sum_kinds(sum, report);
	sum_copies(sum, report);
	sum_kernel(&sum->kernel, &report->kernel);
	sum->read_bytes += report->read_bytes;
	sum->reads += report->reads;
	sum->duration_ns += report->duration_ns;
	sum->wall_time = report->wall_time;
	sum->pss_unknown |= report->pss_unknown;
	sum->pages_unknown |= report->pages_unknown;
	sum->cut |= report->cut;
	memory_remarks_add(remarks, sum, REMARK_PROCESS, 0, &report->remarks);
}
