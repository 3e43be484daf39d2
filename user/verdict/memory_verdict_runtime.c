/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_verdict_runtime.h. */
#include "verdict/memory_verdict_runtime.h"

#include <string.h>

#include "verdict/memory_cause.h"
#include "base/memory.h"

/* Python gives an arena back when none of its objects is in use any more. */
static bool verdict_runtime_is_free(const struct memory_report *report,
				    const struct memory_runtime *runtime)
{
	return runtime->free_bytes >= runtime->page_bytes / 2 &&
	       memory_cause_matters(report, runtime->free_bytes, 20);
}

uint64_t memory_verdict_runtime_free(const struct memory_report *report, enum purpose purpose,
				     uint64_t bytes)
{
	uint64_t free_bytes = 0;
	size_t i;

	for (i = 0; purpose == PURPOSE_PYTHON_ARENA && i < report->runtime_count; i++)
		if (verdict_runtime_is_free(report, &report->runtimes[i]))
			free_bytes += report->runtimes[i].free_bytes;
	return free_bytes < bytes ? free_bytes : bytes;
}

/* Returns whether that matters. */
static bool verdict_runtime_add_free(struct memory_report *report,
				     const struct memory_runtime *runtime)
{
	size_text size, all;

	if (!verdict_runtime_is_free(report, runtime))
		return false;
	memory_cause_add(
		report, "fragmentation", runtime->free_bytes,
		memory_format("%s of the %s in arenas of %s is free, and each arena is held by "
			      "what is still in use in it.",
			      units_format_size(runtime->free_bytes, size),
			      units_format_size(runtime->page_bytes, all), runtime->name),
		memory_format("Make what lives long before a peak, or have the peak in a "
			      "process of its own."));
	return true;
}

/* A page with one object that is in use cannot be given back. */
static void verdict_runtime_sparse(struct memory_report *report)
{
	size_text size, pages;
	share_text rss;
	uint64_t bytes;
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_runtime *runtime = &report->runtimes[i];

		if (!runtime->pages || runtime->sparse_pages > runtime->pages ||
		    verdict_runtime_add_free(report, runtime))
			continue;
		bytes = runtime->page_bytes / runtime->pages * runtime->sparse_pages;
		if (!memory_cause_matters(report, bytes, 5))
			continue;
		memory_cause_add(report, "fragmentation", bytes,
				 memory_format("%s of %s is pages of %s that are held by 2 %% of "
					       "their slots or less (%s of them).",
					       units_format_size(bytes, size),
					       memory_cause_format_whole(report, rss),
					       runtime->name,
					       units_format_count(runtime->sparse_pages, pages)),
				 !strcmp(runtime->name, "ruby")
					 ? memory_format("GC.compact moves objects together; fewer "
							 "objects at the peak leave fewer pages.")
					 : NULL);
	}
}

static uint64_t verdict_runtime_bytes(const struct memory_class *class)
{
	return class->slot_bytes + class->other_bytes;
}

/* The class that takes most, where objects were counted and it matters; else NULL. */
static const struct memory_class *verdict_runtime_most(const struct memory_report *report,
						       const struct memory_runtime *runtime)
{
	const struct memory_class *most = NULL;
	size_t n;

	for (n = 0; n < runtime->class_count; n++)
		if (!most ||
		    verdict_runtime_bytes(&runtime->classes[n]) >= verdict_runtime_bytes(most))
			most = &runtime->classes[n];
	return most && memory_cause_matters(report, verdict_runtime_bytes(most), 10) ? most : NULL;
}

uint64_t memory_verdict_runtime_class(const struct memory_report *report, enum purpose purpose)
{
	const char *name = purpose == PURPOSE_RUBY_HEAP	     ? "ruby"
			   : purpose == PURPOSE_PYTHON_ARENA ? "python"
							     : NULL;
	const struct memory_class *class;
	size_t i;

	for (i = 0; name && i < report->runtime_count; i++) {
		class = verdict_runtime_most(report, &report->runtimes[i]);
		if (class && !strcmp(report->runtimes[i].name, name))
			return verdict_runtime_bytes(class);
	}
	return 0;
}

/* A holder is named where at least a half of a sample has it. */
static void verdict_runtime_classes(struct memory_report *report)
{
	size_text size, count;
	share_text rss;
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_runtime *runtime = &report->runtimes[i];
		const struct memory_class *most = verdict_runtime_most(report, runtime);

		if (!most)
			continue;
		memory_cause_add(
			report, "objects", verdict_runtime_bytes(most),
			memory_format("%s objects of %s (%s) hold %s of %s.",
				      units_format_count(most->live + most->newborn, count),
				      most->name ? most->name : "no class", runtime->name,
				      units_format_size(verdict_runtime_bytes(most), size),
				      memory_cause_format_whole(report, rss)),
			most->holder_percent >= 50 ? memory_format("Held by %s.", most->holders[0])
						   : NULL);
		report->verdicts[report->verdict_count - 1].is_class = true;
	}
}

void memory_verdict_runtime(struct memory_report *report)
{
	verdict_runtime_sparse(report);
	verdict_runtime_classes(report);
}

/* A verdict about a class goes before one of blocks or objects if it has at least this part of its bytes. */
#define CLASS_PART 3

/* Sentences about blocks, and about objects; those of classes are written by verdict_runtime_classes. */
static bool verdict_runtime_sums_up(const struct memory_verdict *verdict)
{
	return !strcmp(verdict->cause, "heap") ||
	       (!strcmp(verdict->cause, "objects") && !verdict->is_class);
}

void memory_verdict_runtime_order(struct memory_report *report)
{
	struct memory_verdict *verdicts = report->verdicts, class;
	size_t from = 0, to = 0;

	while (from < report->verdict_count && !verdicts[from].is_class)
		from++;
	if (from == report->verdict_count)
		return;
	class = verdicts[from];
	while (to < from && (!verdict_runtime_sums_up(&verdicts[to]) ||
			     class.bytes < verdicts[to].bytes / CLASS_PART))
		to++;
	memmove(verdicts + to + 1, verdicts + to, (from - to) * sizeof(class));
	verdicts[to] = class;
}
