/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_verdict.h. Each rule looks at a share of the process's memory, and adds a verdict if it matters. */
#include "verdict/memory_verdict.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/memory_cause.h"
#include "verdict/memory_verdict_group.h"
#include "verdict/memory_verdict_growth.h"
#include "verdict/memory_verdict_runtime.h"
#include "base/memory.h"
#include "base/units.h"

/* What gives free memory back, by allocator. */
static const struct {
	const char *allocator, *call, *remedy;
} returns[] = {
	{ "glibc", "malloc_trim(0)", NULL },
	{ "jemalloc", "a purge of all arenas",
	  "MALLOC_CONF=dirty_decay_ms:1000,muzzy_decay_ms:0 gives free pages back sooner" },
	{ "tcmalloc", "MallocExtension's ReleaseFreeMemory()",
	  "TCMALLOC_RELEASE_RATE=10 gives free pages back sooner" },
	{ "mimalloc", "mi_collect(true)",
	  "MIMALLOC_DECOMMIT_DELAY=0 (MIMALLOC_PURGE_DELAY=0 since 2.1) gives free pages back "
	  "sooner" },
};

static size_t verdict_find_return(const char *allocator)
{
	size_t i, count = sizeof(returns) / sizeof(returns[0]);

	for (i = 0; i < count && strcmp(returns[i].allocator, allocator) != 0; i++)
		;
	return i;
}

/* What malloc_trim(0) returns is computed; what another setting saves cannot be. */
static char *verdict_remedy_glibc(const struct heap_totals *heap)
{
	static const char other[] = "another allocator (jemalloc, tcmalloc), which gives free "
				    "pages back by itself";
	bool trims = heap->trim_bytes > heap_totals_free_resident(heap) / 2;

	if (heap->arenas > 2)
		return memory_format("%s MALLOC_ARENA_MAX=2, with which threads share free memory, "
				     "or %s: restart with it and compare.",
				     trims ? "Call that after a peak; or try" : "Try", other);
	if (trims)
		return memory_format("Call that after a peak, or try %s.", other);
	return memory_format("Live blocks keep the pages around them: allocate what lives long "
			     "together, or try %s.",
			     other);
}

static char *verdict_remedy(const struct heap_totals *heap)
{
	size_t i = verdict_find_return(heap->allocator);

	if (!strcmp(heap->allocator, "glibc"))
		return verdict_remedy_glibc(heap);
	if (i < sizeof(returns) / sizeof(returns[0]))
		return memory_copy_string(returns[i].remedy);
	return NULL;
}

/* Free memory beside live blocks is named if it is more than this part of all free memory. */
#define BESIDE_PART 10

/* "malloc_trim(0) would return 77.5 MiB now, and never 14.2 MiB." */
static void verdict_append_return(const struct heap_totals *heap, struct buffer *text)
{
	size_t i = verdict_find_return(heap->allocator);
	size_text size;

	if (i == sizeof(returns) / sizeof(returns[0]) || heap->trim_bytes == HEAP_UNKNOWN)
		return;
	buffer_printf(text, " %s would return %s now", returns[i].call,
		      units_format_size(heap->trim_bytes, size));
	if (heap->stuck_bytes && heap->stuck_bytes != HEAP_UNKNOWN)
		buffer_printf(text, ", and never %s", units_format_size(heap->stuck_bytes, size));
	buffer_append_string(text, ".");
	if (heap->shared_pages_bytes != HEAP_UNKNOWN &&
	    heap->shared_pages_bytes > heap_totals_free_resident(heap) / BESIDE_PART)
		buffer_printf(text,
			      " %s is beside live blocks, in their pages, and stays until these "
			      "are freed.",
			      units_format_size(heap->shared_pages_bytes, size));
}

static void verdict_fragmentation(struct memory_report *report, const struct heap_totals *heap)
{
	uint64_t bytes = heap_totals_free_resident(heap);
	struct buffer text = { 0 };
	size_text size, count;
	share_text rss;

	if (!memory_cause_matters(report, bytes, 20))
		return;
	buffer_printf(&text, "%s of %s is free memory inside malloc (%s)",
		      units_format_size(bytes, size), memory_cause_format_whole(report, rss),
		      heap->allocator);
	if (heap->arenas > 1 && heap->arenas != HEAP_UNKNOWN)
		buffer_printf(&text, ", in %s arenas for %s",
			      units_format_count(heap->arenas, count),
			      report->process.threads == 1 ? "1 thread" : "");
	if (heap->arenas > 1 && heap->arenas != HEAP_UNKNOWN && report->process.threads != 1)
		buffer_printf(&text, "%s threads",
			      units_format_count(report->process.threads, count));
	buffer_append_string(&text, ".");
	verdict_append_return(heap, &text);
	memory_cause_add(report, "fragmentation", bytes, text.data, verdict_remedy(heap));
}

/*
 * ". Most of it, 12.0 MiB, is class app::Req." Only where there is one heap, since kinds are of all. Kinds count memory that is
 * not resident, too: where that is more than the figure before, what it is a part of comes first.
 */
static void verdict_append_kind(const struct memory_report *report, const struct heap_totals *heap,
				struct buffer *text)
{
	const struct memory_kind *most = NULL;
	size_text size;
	size_t i;

	for (i = 0; i < report->kind_count; i++)
		if (!most || report->kinds[i].bytes > most->bytes)
			most = &report->kinds[i];
	if (report->heap_count == 1 && most && most->bytes > heap->live_resident)
		buffer_printf(text, ", %s with what is not in memory",
			      units_format_size(heap->live_bytes, size));
	buffer_append_string(text, ".");
	if (report->heap_count != 1 || !most || most->bytes <= heap->live_bytes / 2)
		return;
	buffer_printf(text, " Most of it, %s, is ", units_format_size(most->bytes, size));
	memory_cause_append_kind(most, text);
	buffer_append_string(text, ".");
}

/* Were the objects of any runtime counted? */
static bool verdict_has_classes(const struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->runtime_count; i++)
		if (report->runtimes[i].class_count)
			return true;
	return false;
}

/* One look does not show whether it is a leak. */
static char *verdict_remedy_live(const struct memory_report *report)
{
	pid_t pid = report->process.pid;

	if (!pid)
		return NULL;
	if (report->runtime_count && !verdict_has_classes(report))
		return memory_format("A leak, if it grows ('tracer memory -p %d 10 6'); "
				     "'tracer memory -p %d --objects' shows which objects hold "
				     "most.",
				     pid, pid);
	return memory_format("A leak, if it grows: 'tracer memory -p %d 10 6' shows that, "
			     "'tracer -p %d' which call sites hold what they allocate from now "
			     "on.",
			     pid, pid);
}

static void verdict_live(struct memory_report *report, const struct heap_totals *heap)
{
	struct buffer text = { 0 };
	size_text size, count;
	share_text rss;

	if (!memory_cause_matters(report, heap->live_resident, 30))
		return;
	buffer_printf(&text, "%s of %s is in use on the heap: %s live block%s of malloc (%s)",
		      units_format_size(heap->live_resident, size),
		      memory_cause_format_whole(report, rss),
		      units_format_count(heap->live_blocks, count), units_s(heap->live_blocks),
		      heap->allocator);
	verdict_append_kind(report, heap, &text);
	memory_cause_add(report, "heap", heap->live_resident, text.data,
			 verdict_remedy_live(report));
}

static void verdict_heaps(struct memory_report *report)
{
	size_t i;

	for (i = 0; i < report->heap_count; i++) {
		verdict_fragmentation(report, &report->heaps[i]);
		verdict_live(report, &report->heaps[i]);
	}
}

/* What threads have left behind costs address space first. */
static void verdict_ended_stacks(struct memory_report *report)
{
	const struct purpose_sum *sum = &report->parts[PURPOSE_ENDED_STACK];
	size_text size, mapped, count;

	if (!sum->count || (sum->count < 4 && sum->rss < MEMORY_CAUSE_MIN))
		return;
	memory_cause_add(
		report, "stacks", sum->rss,
		memory_format(
			"%s thread%s %s ended, and nobody has joined %s: %s of stacks (%s mapped).",
			units_format_count(sum->count, count), units_s(sum->count),
			sum->count == 1 ? "has" : "have", sum->count == 1 ? "it" : "them",
			units_format_size(sum->rss, size), units_format_size(sum->mapped, mapped)),
		memory_format("The program must call pthread_join or pthread_detach for each "
			      "thread that it creates."));
}

/* Threads that many programs have. */
#define THREADS_MANY 64

/* Their stacks are little memory: a leak of threads shows by their number. */
static void verdict_threads(struct memory_report *report)
{
	const struct purpose_sum *sum = &report->parts[PURPOSE_THREAD_STACK];
	size_text size, mapped, count;

	if (sum->count < THREADS_MANY || report->parts_before || !report->process.pid)
		return;
	memory_cause_add(
		report, "threads", sum->rss,
		memory_format("%s threads are running besides the main one: their stacks take %s "
			      "of address space, %s of it in memory.",
			      units_format_count(sum->count, count),
			      units_format_size(sum->mapped, mapped),
			      units_format_size(sum->rss, size)),
		memory_format("A leak, if there are more and more: 'tracer memory -p %d 10 6' "
			      "shows that.",
			      report->process.pid));
}

#define OBJECTS_REMEDY "'tracer memory -p PID --objects' has their classes, and what holds them"

/* Parts that are a cause by themselves, with several purposes added up. */
static const struct part_rule {
	const char *cause;
	enum purpose first, last; /* purposes from the first to the last */
	unsigned int percent; /* of RSS, from which on it matters */
	const char *text; /* behind "12 MiB of 40 MiB RSS " */
	const char *remedy;
} part_rules[] = {
	{ "objects", PURPOSE_RUBY_HEAP, PURPOSE_RUBY_TRANSIENT, 20, "is Ruby's own heap of objects",
	  OBJECTS_REMEDY },
	{ "objects", PURPOSE_PYTHON_ARENA, PURPOSE_PYTHON_ARENA, 20,
	  "is Python's own heap of objects", OBJECTS_REMEDY },
	{ "objects", PURPOSE_PHP_HEAP, PURPOSE_PHP_HEAP, 20, "is PHP's own heap", NULL },
	{ "runtime", PURPOSE_JAVA_HEAP, PURPOSE_JAVA_CLASS, 20,
	  "is memory of the Java virtual machine: heap, classes and code",
	  "-Xmx limits the heap; 'jcmd PID GC.heap_info' has its parts" },
	{ "runtime", PURPOSE_V8_HEAP, PURPOSE_V8_HEAP, 20, "is V8's heap (JavaScript)",
	  "--max-old-space-size limits it; a heap snapshot has its objects" },
	{ "runtime", PURPOSE_GO_HEAP, PURPOSE_GO_HEAP, 20, "is Go's heap",
	  "GOMEMLIMIT and GOGC limit it; net/http/pprof has its call sites" },
	{ "code", PURPOSE_JIT, PURPOSE_JIT, 20, "is generated code (JIT)", NULL },
	{ "stacks", PURPOSE_STACK, PURPOSE_CACHED_STACK, 20, "is stacks of threads",
	  "Fewer threads, or smaller stacks (ulimit -s, pthread_attr_setstacksize)" },
	{ "files", PURPOSE_FILE, PURPOSE_FILE, 30,
	  "is files that it has mapped: page cache, which the kernel takes back when it needs it",
	  NULL },
	{ "shared", PURPOSE_SHARED, PURPOSE_TMPFS, 20,
	  "is shared memory or files in memory (tmpfs), which only stop to be there when they are "
	  "removed and nobody has them mapped or open",
	  "'ls -l /dev/shm', 'ipcs -m' and 'df -t tmpfs' list them" },
	{ "data", PURPOSE_DATA, PURPOSE_BSS, 30, "is static data of the program and its libraries",
	  NULL },
	{ "mapped", PURPOSE_UNKNOWN, PURPOSE_UNKNOWN, 30,
	  "is anonymous memory that no known allocator or runtime has: mapped by the program "
	  "itself",
	  "'tracer -p PID' shows the call sites of its mmap()" },
};

/* With the number of the process in the place of "PID". */
static char *verdict_fill_pid(const struct memory_report *report, const char *remedy)
{
	struct buffer text = { 0 };
	const char *at;

	for (; report->process.pid && (at = strstr(remedy, "PID")); remedy = at + strlen("PID")) {
		buffer_append(&text, remedy, (size_t)(at - remedy));
		buffer_printf(&text, "%d", report->process.pid);
	}
	buffer_printf(&text, "%s.", remedy);
	return text.data;
}

static void verdict_part(struct memory_report *report, const struct part_rule *rule)
{
	const char *remedy = rule->remedy;
	uint64_t bytes = 0, pss = 0, free_bytes;
	share_text size, rss;
	int purpose;

	if (remedy && !strcmp(remedy, OBJECTS_REMEDY) && verdict_has_classes(report))
		remedy = NULL;

	for (purpose = rule->first; purpose <= (int)rule->last; purpose++) {
		bytes += report->parts[purpose].rss;
		pss += report->parts[purpose].pss;
	}
	free_bytes = memory_verdict_runtime_free(report, rule->first, bytes);
	bytes -= free_bytes;
	if (!memory_cause_matters(report, bytes, rule->percent) ||
	    memory_verdict_runtime_class(report, rule->first) >= bytes / 3)
		return;
	memory_cause_add(
		report, rule->cause, bytes,
		memory_format("%s of %s %s.",
			      /* What is free of it has no PSS of its own. */
			      free_bytes ? units_format_size(bytes, size)
					 : memory_cause_format_share(report, bytes, pss, size),
			      memory_cause_format_whole(report, rss), rule->text),
		remedy ? verdict_fill_pid(report, remedy) : NULL);
}

static void verdict_parts(struct memory_report *report)
{
	size_t i;

	for (i = 0; i < sizeof(part_rules) / sizeof(part_rules[0]); i++)
		verdict_part(report, &part_rules[i]);
}

static void verdict_kernel(struct memory_report *report)
{
	const struct memory_kernel *kernel = &report->kernel;
	size_text size, count;

	if (kernel->table_bytes != HEAP_UNKNOWN && kernel->table_bytes >= 8 * MEMORY_CAUSE_MIN &&
	    memory_cause_matters(report, kernel->table_bytes, 5))
		memory_cause_add(
			report, "page-tables", kernel->table_bytes,
			memory_format("The kernel holds %s of page tables for it, besides RSS.",
				      units_format_size(kernel->table_bytes, size)),
			memory_format("Fewer and denser mappings, or huge pages."));
	if (kernel->queued_bytes != HEAP_UNKNOWN &&
	    memory_cause_matters(report, kernel->queued_bytes, 5))
		memory_cause_add(
			report, "sockets", kernel->queued_bytes,
			memory_format("%s waits in %s socket%s, besides RSS: to be sent to who "
				      "does not read, or read by who is too slow.",
				      units_format_size(kernel->queued_bytes, size),
				      units_format_count(kernel->sockets, count),
				      units_s(kernel->sockets)),
			NULL);
}

static void verdict_children(struct memory_report *report)
{
	size_text size, count;

	if (!report->children || report->children_rss_bytes < report->process.rss_bytes / 2)
		return;
	memory_cause_add(
		report, "children", report->children_rss_bytes,
		memory_format("Its descendants (%s) have %s RSS more.",
			      units_format_count(report->children, count),
			      units_format_size(report->children_rss_bytes, size)),
		memory_format("'tracer memory --tree %d' adds them up.", report->process.pid));
}

static void verdict_swap(struct memory_report *report)
{
	size_text size;

	if (memory_cause_matters(report, report->process.swap_bytes, 20))
		memory_cause_add(report, "swap", report->process.swap_bytes,
				 memory_format("%s of it is swapped out, and was not looked at.",
					       units_format_size(report->process.swap_bytes, size)),
				 NULL);
}

static void verdict_huge_pages(struct memory_report *report)
{
	uint64_t bytes = report->process.huge_zero_bytes;
	size_text size;
	share_text rss;

	if (bytes == HEAP_UNKNOWN || !memory_cause_matters(report, bytes, 20))
		return;
	memory_cause_add(
		report, "huge-pages", bytes,
		memory_format("%s of %s is zeroes in huge pages: small pages of which nothing "
			      "was written would not be in memory.",
			      units_format_size(bytes, size),
			      memory_cause_format_whole(report, rss)),
		memory_format("prctl(PR_SET_THP_DISABLE), or 'madvise' or 'never' in "
			      "/sys/kernel/mm/transparent_hugepage/enabled, leaves it with small "
			      "ones."));
}

static void verdict_largest(struct memory_report *report)
{
	uint64_t most = 0;
	share_text size, rss;
	int i, largest = -1;

	for (i = 0; i < PURPOSE_COUNT; i++)
		if (report->parts[i].rss > most) {
			most = report->parts[i].rss;
			largest = i;
		}
	if (largest < 0)
		return;
	memory_cause_add(report, "none", most,
			 memory_format("Nothing stands out: the largest part is %s, %s of %s.",
				       purpose_title(largest),
				       memory_cause_format_share(report, most,
								 report->parts[largest].pss, size),
				       memory_cause_format_whole(report, rss)),
			 NULL);
}

/* Growth first; what is not memory of the process itself last, but for page cache where the look is at a group, which that is most of. */
static int verdict_rank(const struct memory_report *report, const struct memory_verdict *verdict)
{
	if (!strcmp(verdict->cause, "growth"))
		return 0;
	if (!strcmp(verdict->cause, "page-cache"))
		return report->group.asked ? 1 : 3;
	return strcmp(verdict->cause, "children") ? 2 : 3;
}

static int verdict_compare(const void *a, const void *b, void *context)
{
	const struct memory_verdict *left = a, *right = b;
	int rank = verdict_rank(context, left), other = verdict_rank(context, right);

	if (rank != other)
		return rank - other;
	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

void memory_verdict_find(struct memory_report *report)
{
	memory_verdict_growth(report);
	verdict_heaps(report);
	verdict_ended_stacks(report);
	verdict_threads(report);
	verdict_parts(report);
	memory_verdict_runtime(report);
	verdict_kernel(report);
	verdict_swap(report);
	verdict_huge_pages(report);
	memory_verdict_shared(report);
	if (!report->verdict_count && !report->pages_unknown)
		verdict_largest(report);
	memory_verdict_group(report);
	verdict_children(report);
	if (report->verdict_count)
		qsort_r(report->verdicts, report->verdict_count, sizeof(*report->verdicts),
			verdict_compare, report);
	memory_verdict_runtime_order(report);
}
