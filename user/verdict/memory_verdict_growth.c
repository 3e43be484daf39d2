/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_verdict_growth.h. */
#include "verdict/memory_verdict_growth.h"

#include <string.h>

#include "verdict/memory_cause.h"
#include "verdict/memory_verdict_group.h"
#include "base/memory.h"
#include "base/units.h"

/* Fewer threads come and go. */
#define THREADS_MIN 8

/* Less than MEMORY_CAUSE_MIN matters from so many bytes on, if it is such a part of RSS. */
#define GROWTH_MIN (64u << 10)
#define GROWTH_PART 20

/* What has grown by `bytes`, if that matters; 0 = it has not. */
static uint64_t verdict_growth_matters(const struct memory_report *report, int64_t bytes)
{
	uint64_t grown = bytes > 0 ? (uint64_t)bytes : 0;

	/* In a small program, what is little grows it much. */
	if (grown >= GROWTH_MIN && grown >= report->process.rss_bytes / GROWTH_PART)
		return grown;
	return memory_cause_matters(report, grown, 1) ? grown : 0;
}

/* Is half of what it has grown by, or more, newer than the last collection? */
static bool verdict_growth_is_newborn(const struct memory_class *class)
{
	return class->newborn && class->newborn >= (uint64_t) class->growth_objects / 2;
}

/* The class that has grown most, by objects that may be garbage or not; NULL = none has grown. */
static const struct memory_class *verdict_growth_class(const struct memory_runtime *runtime,
						       bool may_be_newborn)
{
	const struct memory_class *most = NULL, *class;

	for (class = runtime->classes; class < runtime->classes + runtime->class_count; class ++)
		if (class->growth_bytes > (most ? most->growth_bytes : 0) &&
		    class->growth_objects > 0 &&
		    (may_be_newborn || !verdict_growth_is_newborn(class)))
			most = class;
	return most;
}

/* By how much classes have grown that have a sentence. */
static uint64_t verdict_growth_of_classes(const struct memory_report *report)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_class *class = verdict_growth_class(&report->runtimes[i], true);

		if (class)
			bytes += verdict_growth_matters(report, class->growth_bytes);
	}
	return bytes;
}

/* What holds them is known of what there is, and so of what has grown only where that is most of it. */
static char *verdict_growth_describe_holder(const struct memory_class *class)
{
	uint64_t grown = (uint64_t) class->growth_objects;

	if (class->holder_percent < 50 ||
	    (!class->retained && grown < (class->live + class->newborn) / 2))
		return NULL;
	return memory_format("Held by %s.", class->holders[0]);
}

static void verdict_growth_add_class(struct memory_report *report,
				     const struct memory_runtime *runtime,
				     const struct memory_class *class)
{
	struct buffer text = { 0 };
	size_text size, count;

	buffer_printf(&text, "%s more object%s of %s (%s) hold%s %s more.",
		      units_format_count((uint64_t) class->growth_objects, count),
		      units_s(class->growth_objects), class->name ? class->name : "no class",
		      runtime->name, class->growth_objects == 1 ? "s" : "",
		      units_format_size((uint64_t) class->growth_bytes, size));
	if (verdict_growth_is_newborn(class))
		buffer_printf(&text,
			      " %s are newer than the last collection, and may be garbage: "
			      "--wait waits for the next one.",
			      units_format_count(class->newborn, count));
	memory_cause_add(report, "growth", (uint64_t) class->growth_bytes, text.data,
			 verdict_growth_describe_holder(class));
}

/* Where that may be garbage, the class that has grown most of those that are in use as well. */
static void verdict_growth_add_classes(struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_runtime *runtime = &report->runtimes[i];
		const struct memory_class *most = verdict_growth_class(runtime, true);
		const struct memory_class *sure = verdict_growth_class(runtime, false);

		if (most && verdict_growth_matters(report, most->growth_bytes))
			verdict_growth_add_class(report, runtime, most);
		if (sure && sure != most && verdict_growth_is_newborn(most) &&
		    verdict_growth_matters(report, sure->growth_bytes))
			verdict_growth_add_class(report, runtime, sure);
	}
}

/* A sum of several processes has no PID. Who looks twice sees a cache that fills as a leak. */
static char *verdict_growth_remedy(const struct memory_report *report)
{
	if (!report->process.pid)
		return memory_format("'tracer' with the same processes shows which call sites "
				     "hold them.");
	return memory_format("'tracer -p %d' shows which call sites hold them; a cache that "
			     "fills grows, too, and stops.",
			     report->process.pid);
}

/* Of live blocks; with the kind that most of them are, where that has grown first. */
static void verdict_growth_add_heap(struct memory_report *report, const struct heap_totals *heap)
{
	const struct memory_kind *kind = report->kinds;
	struct buffer text = { 0 };
	size_text size, time;

	buffer_printf(&text, "Live blocks of malloc (%s) have grown by %s in %s", heap->allocator,
		      units_format_size((uint64_t)heap->growth_bytes, size),
		      units_format_time(report->since_ns, time));
	if (report->kind_count && report->heap_count == 1 &&
	    kind->growth_bytes > heap->growth_bytes / 2) {
		buffer_printf(&text, ", %s of it ",
			      units_format_size((uint64_t)kind->growth_bytes, size));
		memory_cause_append_kind(kind, &text);
	}
	buffer_append_string(&text, ".");
	memory_cause_add(report, "growth", (uint64_t)heap->growth_bytes, text.data,
			 verdict_growth_remedy(report));
}

/* 0 where that is not known. */
static int64_t verdict_growth_of_part(const struct memory_report *report, int purpose)
{
	int64_t growth = 0;

	memory_report_growth_of_part(report, (enum purpose)purpose, &growth);
	return growth;
}

/* Are the live blocks that are new those of objects? These have grown as much, and not in the runtime's own heap. */
static bool verdict_growth_is_of_objects(const struct memory_report *report, uint64_t bytes)
{
	uint64_t classes = verdict_growth_of_classes(report);
	int64_t inside = 0;
	int i;

	for (i = PURPOSE_RUBY_HEAP; report->parts_before && i <= PURPOSE_PYTHON_ARENA; i++)
		inside += verdict_growth_of_part(report, i);
	return classes >= bytes / 4 * 3 && classes <= bytes / 4 * 5 &&
	       inside < (int64_t)(classes / 2);
}

/* Where objects of a runtime are what has grown, their class is more helpful. */
static void verdict_growth_add_heaps(struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->heap_count; i++) {
		uint64_t bytes = verdict_growth_matters(report, report->heaps[i].growth_bytes);

		if (bytes && !verdict_growth_is_of_objects(report, bytes))
			verdict_growth_add_heap(report, &report->heaps[i]);
	}
}

static bool verdict_growth_is_malloc(int purpose)
{
	return purpose >= PURPOSE_MALLOC_MAIN && purpose <= PURPOSE_MALLOC_LARGE;
}

/* Pages of live blocks come into memory when they are first written to, which may be long after the call. */
static void verdict_growth_add_touched(struct memory_report *report, int64_t grown, int64_t touched)
{
	size_text size, used, time;

	memory_cause_add(report, "growth", (uint64_t)grown,
			 memory_format("malloc has %s more in memory than %s ago, of it %s in live "
				       "blocks: the program has used more of their pages.",
				       units_format_size((uint64_t)grown, size),
				       units_format_time(report->since_ns, time),
				       units_format_size((uint64_t)touched, used)),
			 NULL);
}

/* What malloc has more in memory, and not for what is in use. */
static void verdict_growth_add_free(struct memory_report *report)
{
	int64_t grown = 0, live = 0, touched = 0;
	size_text size, used, time;
	int i;

	for (i = PURPOSE_MALLOC_MAIN; i <= PURPOSE_MALLOC_LARGE; i++)
		grown += verdict_growth_of_part(report, i);
	for (i = 0; i < (int)report->heap_count; i++) {
		live += report->heaps[i].growth_bytes;
		touched += report->heaps[i].growth_live_resident;
	}
	live = live < 0 ? 0 : live;
	if (!verdict_growth_matters(report, grown) || live > grown / 2)
		return;
	if (touched > grown / 2) {
		verdict_growth_add_touched(report, grown, touched);
		return;
	}
	memory_cause_add(report, "growth", (uint64_t)grown,
			 memory_format("malloc has %s more in memory than %s ago, of it %s in live "
				       "blocks: most is free, as a burst leaves it.",
				       units_format_size((uint64_t)grown, size),
				       units_format_time(report->since_ns, time),
				       units_format_size((uint64_t)live, used)),
			 NULL);
}

/* Stacks are small in memory: threads are a cause by their number. */
static void verdict_growth_add_threads(struct memory_report *report, enum purpose purpose,
				       const char *what, const char *remedy)
{
	const struct purpose_sum *now = &report->parts[purpose];
	const struct purpose_sum *before = &report->parts_before[purpose];
	size_text count, mapped;
	int64_t growth;

	if (!memory_report_growth_of_part(report, purpose, &growth))
		return;
	if (now->count < before->count + THREADS_MIN || now->mapped < before->mapped)
		return;
	memory_cause_add(report, "growth", growth > 0 ? (uint64_t)growth : 0,
			 memory_format("%s more threads %s: their stacks take %s of address space.",
				       units_format_count(now->count - before->count, count), what,
				       units_format_size(now->mapped - before->mapped, mapped)),
			 memory_copy_string(remedy));
}

/* Heaps of runtimes grow as their objects do. */
static bool verdict_growth_is_listed(const struct memory_report *report, int purpose)
{
	return (verdict_growth_is_malloc(purpose) && report->heap_count) ||
	       (purpose >= PURPOSE_RUBY_HEAP && purpose <= PURPOSE_PYTHON_ARENA &&
		verdict_growth_of_classes(report));
}

static void verdict_growth_add_parts(struct memory_report *report)
{
	size_text size, time;
	int i;

	for (i = 0; i < PURPOSE_COUNT; i++) {
		uint64_t grown = verdict_growth_matters(report, verdict_growth_of_part(report, i));

		if (!grown || verdict_growth_is_listed(report, i))
			continue;
		memory_cause_add(report, "growth", grown,
				 memory_format("%s more in %s: %s.", units_format_size(grown, size),
					       units_format_time(report->since_ns, time),
					       purpose_title(i)),
				 NULL);
	}
}

/* Of all parts together; false where pages or PSS are not known of both looks. */
static bool verdict_growth_of_all(const struct memory_report *report, int64_t *rss, int64_t *pss)
{
	int i;

	*rss = *pss = 0;
	for (i = 0; i < PURPOSE_COUNT; i++) {
		*rss += (int64_t)(report->parts[i].rss - report->parts_before[i].rss);
		*pss += (int64_t)(report->parts[i].pss - report->parts_before[i].pss);
	}
	return !report->pss_unknown && !report->pss_before_unknown &&
	       !(report->growth_unknown & MEMORY_CUT_PAGES);
}

/* Pages that are not shared any more count in full: RSS stays, PSS grows. */
static void verdict_growth_add_unshared(struct memory_report *report)
{
	size_text size, more, time;
	int64_t rss, pss;

	if (!verdict_growth_of_all(report, &rss, &pss))
		return;
	rss = rss < 0 ? 0 : rss;
	if (!verdict_growth_matters(report, pss - rss))
		return;
	memory_cause_add(report, "growth", (uint64_t)(pss - rss),
			 memory_format("PSS has grown by %s in %s, and RSS by %s: fewer processes "
				       "share its pages, as after a write to memory that was "
				       "shared since a fork.",
				       units_format_size((uint64_t)pss, size),
				       units_format_time(report->since_ns, time),
				       units_format_size((uint64_t)rss, more)),
			 NULL);
}

/* What the group is charged with grows, and not by memory of the processes that were looked at. */
static void verdict_growth_add_group(struct memory_report *report)
{
	int64_t grown = report->group.growth_bytes, rss, pss;
	size_text size, time;

	if (!verdict_growth_of_all(report, &rss, &pss) || !memory_verdict_group_is_own(report) ||
	    grown < (int64_t)MEMORY_CAUSE_MIN || rss > grown / 2 || pss > grown / 2)
		return;
	memory_cause_add(
		report, "growth", (uint64_t)grown,
		memory_format("The account of its control group has grown by %s in %s; "
			      "most of it is no memory of %s, but of other processes, of "
			      "files, or of the kernel.",
			      units_format_size((uint64_t)grown, size),
			      units_format_time(report->since_ns, time),
			      report->member_count > 1 ? "these processes" : "this process"),
		NULL);
}

void memory_verdict_growth(struct memory_report *report)
{
	verdict_growth_add_heaps(report);
	verdict_growth_add_classes(report);
	if (!report->parts_before)
		return;
	verdict_growth_add_threads(report, PURPOSE_THREAD_STACK, "are running",
				   "What starts threads must end them, or keep them for reuse.");
	verdict_growth_add_threads(
		report, PURPOSE_ENDED_STACK, "have ended, and nobody has joined them",
		"The program must call pthread_join or pthread_detach for each.");
	if (report->heap_count)
		verdict_growth_add_free(report);
	verdict_growth_add_parts(report);
	verdict_growth_add_unshared(report);
	verdict_growth_add_group(report);
}
