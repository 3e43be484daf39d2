/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_look.h. */
#include "memory/memory_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verdict/memory_verdict.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/memory.h"
#include "heap/census_heaps.h"
#include "image/claims.h"
#include "image/image_keep.h"
#include "kinds/kind.h"
#include "image/module_ranges.h"
#include "memory/memory_huge.h"
#include "memory/memory_kernel.h"
#include "memory/memory_names.h"
#include "memory/memory_parts.h"
#include "memory/memory_runtimes.h"
#include "base/cpu_delay.h"
#include "system/proc.h"

/* How often allocators are looked for, and the least heap of which it is reported that there was none. */
#define HEAP_TRIES 4
#define HEAP_MIN (1ull << 20)

/* Up to so many bytes of live blocks have their holders found: for more it would take over a second. */
#define HOLDERS_BYTES (512ull << 20)

/* Of the time that there is, for listing mappings and pages. */
#define OPEN_PERCENT 50

/* Looks at a process that executes another program in the middle of each. */
#define LOOK_TRIES 3

struct look {
	pid_t pid;
	const struct memory_wanted *wanted;
	struct memory_report *report;
	struct image *image;
	struct claims *claims;
	struct thread_list threads;
	struct kind_census *kinds; /* NULL = they are not wanted */
	bool misses_heap; /* none was found, or not each that is there could be walked */
	bool has_all_blocks; /* every heap was walked to its end, with blocks that have addresses */
	struct module_ranges modules; /* of the kinds */
	struct kind_roots roots;
	/* Of wanted->until_ns, which a wait for a CPU puts off. */
	uint64_t until_ns;
	uint64_t extension_ns; /* by which it may still be put off */
	struct cpu_delay delay;
	int64_t delay_ns; /* of which it has been put off */
	struct image_patience patience;
};

/* Time */

/* A wait for a CPU is put off at most for so many times of what there was. */
#define EXTENSIONS_MAX 2

/* The caller's wait for a CPU since the last time, as far as that may count. */
static uint64_t look_extend(void *context)
{
	struct look *look = context;
	int64_t delay_ns = cpu_delay_read(&look->delay);
	uint64_t more_ns = (uint64_t)(delay_ns - look->delay_ns);

	if (more_ns > look->extension_ns)
		more_ns = look->extension_ns;
	look->delay_ns = delay_ns;
	look->extension_ns -= more_ns;
	look->until_ns += more_ns;
	return more_ns;
}

static void look_limit_time(struct look *look)
{
	uint64_t now_ns = clock_now_ns();

	look->until_ns = look->wanted->until_ns;
	if (look->until_ns > now_ns)
		look->extension_ns = EXTENSIONS_MAX * (look->until_ns - now_ns);
	look->delay = cpu_delay_open(CPU_DELAY_OWN);
	look->delay_ns = cpu_delay_read(&look->delay);
	look->patience = (struct image_patience){ .extend = look_extend,
						  .is_over = look->wanted->is_over,
						  .context = look };
	look->image->until_ns = look->until_ns;
	look->image->patience = &look->patience;
}

/* Threads */

static void look_at_threads(struct look *look)
{
	size_t i;

	thread_list_find(look->image, &look->threads);
	thread_list_claim(&look->threads, look->claims);
	for (i = 0; i < look->threads.count; i++) {
		look->report->ended_stacks += look->threads.items[i].state == THREAD_ENDED;
		look->report->cached_stacks += look->threads.items[i].state == THREAD_CACHED;
	}
}

/* Allocators */

static void look_at_heap(struct look *look, const struct census_heap *heap)
{
	const struct heap_allocator *allocator = heap->allocator;
	struct census_sink sink = { 0 };
	struct heap_totals totals = { .allocator = allocator->name };
	int code;

	if (census_heap_is_refused(heap))
		memory_report_remark(look->report, "%s: %s.", allocator->name, heap->reason.text);
	if (heap->code)
		return;
	allocator->claim(heap->layout, look->image, look->claims);
	if (look->kinds)
		sink = kind_census_sink(look->kinds);
	code = allocator->walk(heap->layout, look->image, &sink, &totals);
	totals.allocator = allocator->name;
	if (code) {
		memory_report_remark(look->report, "%s: its heap could not be walked: %s.",
				     allocator->name, strerror(-code));
		heap_totals_free(&totals);
		look->misses_heap = true;
		look->report->cut |= MEMORY_CUT_HEAPS;
		return;
	}
	if (totals.counts_only)
		look->report->cut |= MEMORY_CUT_KINDS;
	*memory_report_add_heap(look->report) = totals;
}

/* Has it memory that only an allocator can have asked for? */
static bool look_has_heap(const struct image *image)
{
	size_t i;

	for (i = 0; i < image->mapping_count; i++)
		if (!strcmp(image->mappings[i].name, "[heap]") &&
		    image->mappings[i].end - image->mappings[i].start >= HEAP_MIN)
			return true;
	return false;
}

static void look_for_heaps(struct look *look)
{
	size_t remarks = look->report->remarks.length, i;
	struct census_heaps heaps;

	look->misses_heap = !census_heaps_find(&heaps, look->image, &look->threads, HEAP_TRIES);
	for (i = 0; i < heaps.count; i++)
		look_at_heap(look, &heaps.items[i]);
	census_heaps_free(&heaps);
	if (!look->report->heap_count && look->report->remarks.length == remarks &&
	    look_has_heap(look->image) && !image_is_over(look->image) && !look->image->mappings_cut)
		memory_report_remark(look->report,
				     "No allocator was recognized: what it is may be unknown, or "
				     "change too fast.");
	if (!look->report->heap_count && (look->misses_heap || look_has_heap(look->image)))
		look->report->cut |= MEMORY_CUT_HEAPS;
}

/* Was every heap walked to its end, with blocks that have addresses? */
static bool look_has_all_blocks(const struct look *look)
{
	size_t i;

	for (i = 0; i < look->report->heap_count; i++)
		if (look->report->heaps[i].counts_only)
			return false;
	return !look->misses_heap && !deadline_has_passed(look->image->until_ns);
}

/* Compare with the census before; returns the one that the next look is compared with. */
static struct kind_census *look_follow_kinds(struct look *look, const struct kind_census *before)
{
	bool has_all = look->has_all_blocks;

	kind_census_end(look->kinds);
	if (has_all && before)
		kind_census_follow(look->kinds, before);
	else if (!has_all)
		memory_report_remark(look->report, "Blocks are not followed from look to look: "
						   "not all of them were seen.");
	return has_all ? look->kinds : NULL;
}

/*
 * Of blocks up to how many bytes to remember words while they are walked. Where there may be so many blocks that holders are not
 * looked for, that would be for nothing: if they are after all, the blocks are read again.
 */
static uint64_t look_holders_limit(const struct look *look)
{
	if (look->wanted->holders)
		return UINT64_MAX;
	return look->report->process.rss_bytes < HOLDERS_BYTES ? HOLDERS_BYTES : 0;
}

/* Of a large heap only if that is asked for. */
static void look_for_holders(struct look *look)
{
	uint64_t bytes = kind_roots_bytes(&look->roots);
	size_t i;

	for (i = 0; i < look->report->heap_count; i++)
		bytes += look->report->heaps[i].live_bytes;
	if (look->report->heap_count)
		look->report->cut |= MEMORY_CUT_HOLDERS;
	if (bytes >= HOLDERS_BYTES && !look->wanted->holders)
		memory_report_remark(look->report,
				     "What holds blocks was not looked for, since they "
				     "are large: --holders does.");
	else if (!look->has_all_blocks)
		return;
	else if (kind_census_hold(look->kinds, &look->threads, &look->roots))
		look->report->cut &= ~(unsigned int)MEMORY_CUT_HOLDERS;
	else
		memory_report_remark(look->report, "What holds blocks is not known: there are too "
						   "many of them, or there was no time.");
}

static void look_fill_kinds(struct look *look, struct kind_census **kept)
{
	struct memory_names names = { look->wanted->names, look->image, look->report };
	const struct kind_namer namer = memory_names_namer(&names);
	const struct kind_shown shown = { .image = look->image,
					  .modules = &look->modules,
					  .namer = names.reader ? &namer : NULL,
					  .samples = look->wanted->samples };
	struct kind_census *next;

	look_for_holders(look);
	next = kept ? look_follow_kinds(look, *kept) : NULL;
	kind_census_fill(look->kinds, &shown, look->report);
	if (kept) {
		kind_census_free(*kept);
		*kept = next;
	}
	if (look->kinds != next)
		kind_census_free(look->kinds);
	look->kinds = NULL;
}

static void look_at_heaps(struct look *look)
{
	struct kind_census **kept = memory_kept_kinds(look->wanted->kept);

	if (look->wanted->totals_only) {
		look_for_heaps(look);
		return;
	}
	module_ranges_find(look->image, &look->modules);
	look->kinds = kind_census_new(look->image, &look->modules);
	kind_census_keep(look->kinds, kept ? *kept : NULL);
	kind_census_expect_holders(look->kinds, look_holders_limit(look));
	look_for_heaps(look);
	look->has_all_blocks = look_has_all_blocks(look);
}

static void look_at_runtimes(struct look *look)
{
	/* A census that was cut has not all blocks. */
	const struct kind_census *kinds = look->has_all_blocks ? look->kinds : NULL;

	memory_runtimes_look(look->image, look->wanted, kinds, look->claims, &look->roots,
			     look->report);
}

/* Behind the runtimes, whose objects hold blocks, too. */
static void look_at_kinds(struct look *look)
{
	if (look->kinds)
		look_fill_kinds(look, memory_kept_kinds(look->wanted->kept));
	image_keep_end(look->image);
}

static void look_at_modules(struct look *look)
{
	memory_parts_claim_modules(look->image, look->claims);
}

static void look_at_files(struct look *look)
{
	memory_parts_claim_files(look->image, look->claims);
}

static void look_at_huge_pages(struct look *look)
{
	memory_huge_look(look->image, look->wanted->huge_pages, look->report);
}

/* Adding up */

static void look_fill_process(const struct proc_status *status, struct memory_report *report)
{
	struct memory_process *process = &report->process;

	process->pid = status->pid;
	memcpy(process->comm, status->comm, sizeof(process->comm));
	process->rss_bytes = process->rss_after_bytes = status->rss_bytes;
	process->swap_bytes = status->swap_bytes;
	process->mapped_bytes = status->mapped_bytes;
	process->threads = status->threads;
	proc_read_start_time("/proc", status->pid, &process->start_ticks);
}

/* Pages were listed again, as after a wait for a collection: what the kernel counts is as old as they are. */
static void look_count_again(struct look *look)
{
	struct proc_status status;

	if (look->pid && look->image->refreshes > 1 &&
	    !proc_read_status("/proc", look->pid, &status))
		look_fill_process(&status, look->report);
}

/* In this order: the first to claim memory has it. None may take the time of those behind it. */
static const struct look_stage {
	const char *name;
	void (*run)(struct look *look);
	unsigned int percent; /* of the time that is left */
	unsigned int cut; /* what is missing if there was no time */
	bool always; /* it has something to show without time, too */
} stages[] = {
	{ "threads", look_at_threads, 40, MEMORY_CUT_THREADS },
	{ "the heaps", look_at_heaps, 60, MEMORY_CUT_HEAPS },
	{ "runtimes", look_at_runtimes, 70, MEMORY_CUT_RUNTIMES },
	{ "kinds of blocks", look_at_kinds, 80, MEMORY_CUT_KINDS, true },
	{ "modules", look_at_modules, 70, MEMORY_CUT_MODULES },
	{ "files", look_at_files, 70, MEMORY_CUT_FILES },
	{ "huge pages", look_at_huge_pages, 70 },
};

static void look_run_stage(struct look *look, const struct look_stage *stage)
{
	uint64_t now_ns = clock_now_ns();

	look->image->until_ns = look->until_ns;
	if (image_is_over(look->image)) {
		memory_report_remark(look->report, "There was no time to look at %s.", stage->name);
		look->report->cut |= stage->cut;
		if (stage->always)
			stage->run(look);
		return;
	}
	if (look->until_ns > now_ns)
		look->image->until_ns = now_ns + (look->until_ns - now_ns) / 100 * stage->percent;
	if (look->wanted->on_stage)
		look->wanted->on_stage(stage->name);
	stage->run(look);
	if (!image_is_over(look->image))
		return;
	look->report->cut |= stage->cut;
	memory_report_remark(look->report, "There was no time to look at all of %s.", stage->name);
}

static void look_run(struct look *look)
{
	size_t i;

	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		look_run_stage(look, &stages[i]);
	look->image->until_ns = look->until_ns;
	look_count_again(look);
	memory_parts_sum(look->image, look->until_ns, look->claims, look->report);
	if (look->image->mappings_cut)
		memory_report_remark(look->report,
				     "It has more than %u mappings: those behind these, and what "
				     "is in them, were not looked at.",
				     PROC_MAPPINGS_MAX);
	if (look->report->pages_unknown)
		look->report->cut |= MEMORY_CUT_PAGES;
}

static uint64_t look_free_bytes(const struct memory_report *report)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < report->heap_count; i++)
		bytes += heap_totals_free_resident(&report->heaps[i]);
	return bytes;
}

static uint64_t look_live_bytes(const struct memory_report *report)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < report->heap_count; i++)
		bytes += report->heaps[i].live_bytes;
	return bytes;
}

/* Before what is opened here, other programs may have run. */
static int look_open_image(struct look *look, struct error *error)
{
	uint64_t now_ns = clock_now_ns(), until_ns = look->wanted->until_ns;
	int code;

	if (until_ns > now_ns)
		until_ns = now_ns + (until_ns - now_ns) / 100 * OPEN_PERCENT;
	code = image_open(look->pid, until_ns, &look->image, error);
	if (code)
		return code;
	look_limit_time(look);
	if (look->wanted->kept)
		look->report->executed = !memory_kept_begin(look->wanted->kept, look->image);
	return 0;
}

static int look_open(struct look *look, struct error *error)
{
	struct proc_status status;
	pid_t pid = look->pid;
	int code = proc_read_status("/proc", pid, &status);

	if (code)
		return error_set(error, code == -ESRCH ? ERROR_TARGET : ERROR_PERMISSION, code,
				 "there is no process %d", pid);
	if (status.pid != pid)
		return error_set(error, ERROR_TARGET, -ESRCH, "%d is a thread of process %d", pid,
				 status.pid);
	if (!status.mapped_bytes)
		return proc_refuse_empty(&status, error);
	code = look_open_image(look, error);
	look->report->process.huge_bytes = look->report->process.huge_zero_bytes = HEAP_UNKNOWN;
	if (!code && !proc_read_status("/proc", pid, &status)) {
		look_fill_process(&status, look->report);
		memory_kernel_read(&status, look->report);
	}
	return code;
}

static void look_finish(struct look *look, uint64_t begin_ns)
{
	struct memory_report *report = look->report;
	struct proc_status status;

	if (look->pid && !proc_read_status("/proc", look->pid, &status))
		report->process.rss_after_bytes = status.rss_bytes;
	report->process.mappings = look->image->mapping_count;
	report->process.malloc_free_bytes = look_free_bytes(report);
	report->read_bytes = look->image->usage.bytes;
	report->reads = look->image->usage.reads;
	report->duration_ns = clock_now_ns() - begin_ns;
	report->wall_time = (int64_t)time(NULL);
}

/* What was seen must be of one program. */
static int look_check(const struct look *look, struct error *error)
{
	if (image_is_alive(look->image))
		return 0;
	if (proc_has_memory("/proc", look->pid))
		return -ESTALE;
	return error_set(error, ERROR_TARGET, -ESRCH,
			 "process %d (%s) ended while it was looked at", look->pid,
			 look->report->process.comm);
}

static void look_close(struct look *look)
{
	cpu_delay_close(&look->delay);
	module_ranges_free(&look->modules);
	kind_roots_free(&look->roots);
	thread_list_free(&look->threads);
	claims_free(look->claims);
}

static int look_once(pid_t pid, const struct memory_wanted *wanted, struct memory_report *report,
		     struct error *error)
{
	struct look look = {
		.pid = pid, .wanted = wanted, .report = report, .delay = { .fd = -1 }
	};
	uint64_t begin_ns = clock_now_ns();
	int code = look_open(&look, error);

	if (!code) {
		look.claims = claims_new();
		look_run(&look);
		look_finish(&look, begin_ns);
		code = look_check(&look, error);
	}
	look_close(&look);
	image_free(look.image);
	return code;
}

void memory_look_image(struct image *image, const struct memory_wanted *wanted,
		       struct memory_report *ret_report)
{
	struct look look = { .pid = image->pid,
			     .wanted = wanted,
			     .report = ret_report,
			     .image = image,
			     .claims = claims_new() };
	uint64_t begin_ns = clock_now_ns();

	look_limit_time(&look);
	ret_report->process.huge_bytes = ret_report->process.huge_zero_bytes = HEAP_UNKNOWN;
	look_run(&look);
	look_finish(&look, begin_ns);
	look_close(&look);
	image->patience = NULL;
}

/* An exec leaves a process its start time; the next process with its pid has another one. */
static bool look_is_another(pid_t pid, uint64_t start_ticks)
{
	uint64_t now;

	return !proc_read_start_time("/proc", pid, &now) && now != start_ticks;
}

int memory_look(pid_t pid, const struct memory_wanted *wanted, struct memory_report *ret_report,
		struct error *error)
{
	bool has_before = wanted->kept && memory_kept_has_begun(wanted->kept);
	struct error refused = { 0 };
	uint64_t start_ticks;
	int code = look_once(pid, wanted, ret_report, &refused), tries;

	start_ticks = ret_report->process.start_ticks;
	for (tries = 1; code == -ESTALE && tries < LOOK_TRIES; tries++) {
		if (start_ticks && look_is_another(pid, start_ticks)) {
			memory_report_free(ret_report);
			return error_set(error, ERROR_TARGET, -ESRCH,
					 "process %d ended while it was looked at", pid);
		}
		memory_report_free(ret_report);
		refused = (struct error){ 0 };
		code = look_once(pid, wanted, ret_report, &refused);
		ret_report->executed = true;
	}
	if (code == -ESTALE) {
		memory_report_free(ret_report);
		return error_set(error, ERROR_TARGET, code,
				 "process %d executed another program in each of %d looks at it",
				 pid, LOOK_TRIES);
	}
	if (code)
		return error_set(error, refused.kind, code, "%s", refused.text);
	ret_report->executed &= has_before;
	if (ret_report->executed)
		memory_report_remark(ret_report,
				     "The process has executed another program since the look "
				     "before: what has grown is not known.");
	return 0;
}

int memory_look_malloc(pid_t pid, uint64_t until_ns, struct memory_malloc *ret_malloc)
{
	const struct memory_wanted wanted = { .until_ns = until_ns, .totals_only = true };
	struct memory_report report = { 0 };
	struct look look = { .pid = pid, .wanted = &wanted, .report = &report };
	int code = image_open(pid, until_ns, &look.image, &(struct error){ 0 });

	if (!code) {
		look.claims = claims_new();
		look_at_threads(&look);
		look_at_heaps(&look);
		code = deadline_has_passed(until_ns) ? -ETIMEDOUT
		       : !image_is_alive(look.image) ? -ESRCH
		       : look.misses_heap	     ? -ENOTSUP
						     : 0;
	}
	if (!code)
		*ret_malloc = (struct memory_malloc){ look_live_bytes(&report),
						      look_free_bytes(&report) };
	thread_list_free(&look.threads);
	claims_free(look.claims);
	image_free(look.image);
	memory_report_free(&report);
	return code;
}
