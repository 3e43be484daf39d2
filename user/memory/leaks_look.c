/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_look.h. */
#include "memory/leaks_look.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/seed.h"
#include "base/text.h"
#include "base/units.h"
#include "memory/leaks_groups.h"
#include "memory/leaks_pause.h"
#include "memory/leaks_pass.h"
#include "memory/leaks_who.h"
#include "reach/reach_code.h"
#include "reach/reach_newer.h"
#include "base/cpu_delay.h"
#include "system/kernel_words.h"
#include "system/proc.h"

/* Passes until so many in a row have left out nothing: what moves is not missed in each of them. */
#define PASSES_AGREE 8

/* How often blocks are listed until all of them are certain, at the end. */
#define LISTS_MAX 20
#define LISTS_GAP_NS 10000000ull
/* How often at least, where lists of free blocks change while they are followed: what is lost is a block each time. */
#define LISTS_MOVING 8

struct leaks_run {
	const struct leaks_wanted *wanted;
	struct leak_report *report;
	struct image *image;
	/* They point into themselves, so they stay where they are. */
	struct leaks_pass passes[2];
	/* The one that counts: the last one, unless that was for nothing. */
	struct leaks_pass *pass;
	struct leaks_motion motion; /* of all passes */
	struct leaks_objects objects; /* as the first pass begins */
	struct reach_candidates kept;
	uint64_t pass_ns, search_ns; /* how long the last one took, and the last leaks_search */
	unsigned int kernel_hides; /* enum kernel_hidden, at the beginning */
	unsigned int agreed; /* the last so many passes have left out nothing */
	struct image_patience patience;
	struct cpu_delay delay;
	int64_t delay_ns;
};

/* Waits for a CPU are not the process's fault. */
static uint64_t leaks_extend(void *context)
{
	struct leaks_run *run = context;
	int64_t delay_ns = cpu_delay_read(&run->delay);
	uint64_t more_ns = (uint64_t)(delay_ns - run->delay_ns);

	run->delay_ns = delay_ns;
	return more_ns;
}

/*
 * Words in another form that lead to candidates of the last pass. Where that saw one moment, they must be of the same one. False if there was no
 * time for all memory.
 */
static bool leaks_search(struct leaks_run *run, struct reach_candidates *candidates)
{
	const uint64_t begin_ns = clock_now_ns();
	bool has_all = reach_code_find(candidates, &run->pass->roots, run->image);

	run->search_ns = clock_now_ns() - begin_ns;
	leaks_pass_check_rest(run->pass);
	run->pass->is_quiet &= has_all;
	return has_all;
}

static void leaks_meet(struct leaks_run *run)
{
	struct reach_candidates now = { 0 };
	size_t before = reach_candidates_lost(&run->kept);

	reach_candidates_take(&now, &run->pass->blocks, &run->pass->graph, run->image);
	if (run->pass->is_quiet)
		leaks_search(run, &now);
	/* A snapshot needs no other one. */
	if (run->report->passes == 1 || run->pass->is_quiet) {
		reach_candidates_free(&run->kept);
		run->kept = now;
		run->agreed = 0;
		return;
	}
	reach_candidates_meet(&run->kept, &now);
	run->agreed = reach_candidates_lost(&run->kept) == before ? run->agreed + 1 : 0;
	reach_candidates_free(&now);
}

/* Is what is left certain enough? Nothing that is lost is missing in any pass: an empty set is final. */
static bool leaks_is_done(const struct leaks_run *run)
{
	const struct leak_who *who = run->wanted->who;

	return run->pass->is_quiet || !run->kept.count ||
	       (who && leaks_who_is_reached(run->pass, who)) ||
	       run->report->passes >= LEAKS_PASSES_MAX || run->agreed >= PASSES_AGREE;
}

static void leaks_wait(uint64_t ns)
{
	const struct timespec gap = clock_timespec(ns);

	nanosleep(&gap, NULL);
}

/* As long as is wanted on average, and never twice the same: what the process does at intervals is not met at the same point each time. */
static void leaks_wait_gap(uint64_t ns)
{
	leaks_wait(ns / 2 + seed_new() % (ns + 1));
}

/* The report has the most of all passes. */
static void leaks_see_motion(struct leaks_run *run, const struct leaks_motion *motion)
{
	struct leaks_motion *most = &run->motion;

	most->is_moving |= motion->is_moving;
	most->bytes = motion->bytes > most->bytes ? motion->bytes : most->bytes;
	most->sizes = motion->sizes > most->sizes ? motion->sizes : most->sizes;
}

static int leaks_pass_next(struct leaks_run *run, struct error *error)
{
	const uint64_t begin_ns = clock_now_ns();
	int code;

	if (run->wanted->on_pass)
		run->wanted->on_pass(run->report->passes + 1);
	code = leaks_pass_run(run->pass, run->image, run->wanted, &run->objects,
			      run->report->passes % 2 ? REACH_DOWNWARD : REACH_UPWARD, error);
	run->pass_ns = clock_now_ns() - begin_ns;
	leaks_see_motion(run, &run->pass->motion);
	run->report->passes += !code;
	return code;
}

static int leaks_passes(struct leaks_run *run, struct error *error)
{
	int code;

	for (;;) {
		code = leaks_pass_next(run, error);
		if (code)
			return code;
		leaks_meet(run);
		if (leaks_is_done(run))
			return 0;
		leaks_pass_free(run->pass);
		leaks_wait_gap(run->wanted->gap_ns);
	}
}

/* Is there something to prove, and no proof yet? */
static bool leaks_wants_pause(const struct leaks_run *run)
{
	const struct leak_who *who = run->wanted->who;

	return run->wanted->pause && !run->pass->is_quiet && run->kept.count &&
	       !(who && leaks_who_is_reached(run->pass, who));
}

/*
 * A pass while the process is stopped: a proof. It goes on when words in another form have been searched, too, for which what is lost must be
 * known. Where there is no proof, what was found before stays.
 */
static void leaks_pause(struct leaks_run *run)
{
	struct leaks_pause pause = { .wanted = run->wanted, .image = run->image };
	struct reach_candidates kept = run->kept;
	const unsigned int passes = run->report->passes;
	struct leaks_pass *before = run->pass;
	struct error refused = { 0 };

	if (!leaks_wants_pause(run))
		return;
	if (before->sharer < 0) {
		leak_report_remark(run->report,
				   "The process was not stopped: another one may share "
				   "its memory, and would run on.");
		return;
	}
	if (!leaks_pause_is_allowed(&pause, run->pass_ns + run->search_ns, before->graph.count,
				    run->report))
		return;
	run->pass = before == run->passes ? run->passes + 1 : run->passes;
	run->kept = (struct reach_candidates){ 0 };
	if (leaks_pause_begin(&pause) && !leaks_pass_next(run, &refused))
		leaks_meet(run);
	leaks_pause_end(&pause, run->report, run->pass->is_quiet, &refused);
	if (run->pass->is_quiet) {
		leaks_pass_free(before);
		reach_candidates_free(&kept);
		return;
	}
	leaks_pass_free(run->pass);
	reach_candidates_free(&run->kept);
	run->pass = before;
	run->kept = kept;
	run->report->passes = passes;
}

static int leaks_list(struct leaks_run *run, struct leaks_list *list, struct error *error)
{
	int code = image_refresh_whole(run->image, error);

	if (code)
		return code;
	return leaks_pass_list(run->image, run->wanted, list, error);
}

static bool leaks_has_stale(const struct reach_graph *graph)
{
	size_t i;

	for (i = 0; i < graph->count; i++)
		if (graph->nodes[i].verdict == LEAK_STALE)
			return true;
	return false;
}

/*
 * While the last pass ran, pointers moved to blocks that its list does not have: these hold what the pass has found stale, or lost.
 */
static int leaks_hold_newer(struct leaks_run *run, struct error *error)
{
	struct leaks_list list = { 0 };
	struct error reason = { 0 };
	bool has_all = true;
	int code;

	if (run->pass->is_quiet || (!run->kept.count && !leaks_has_stale(&run->pass->graph)))
		return 0;
	code = leaks_list(run, &list, &reason);
	if (!code)
		has_all = reach_newer_hold(&run->pass->graph, &run->pass->index, &list.blocks,
					   run->image);
	leaks_list_free(&list);
	if (code == -ESRCH)
		return error_set(error, reason.kind, code, "%s", reason.text);
	if (code || !has_all)
		leak_report_remark(run->report,
				   "Blocks that are newer than the last pass were not "
				   "all read: what is stale may be reachable by them.");
	reach_candidates_drop_held(&run->kept, &run->pass->blocks, &run->pass->graph);
	return 0;
}

/* Drop what is free in this list. Is another one needed? */
static bool leaks_check_list(struct leaks_run *run, const struct leaks_list *list,
			     unsigned int tries)
{
	size_t unseen;

	if (!list->motion.is_moving) {
		if (list->is_exact || tries == LISTS_MAX)
			reach_candidates_check(&run->kept, &list->blocks);
		return !list->is_exact;
	}
	leaks_see_motion(run, &list->motion);
	unseen = reach_candidates_check_moving(&run->kept, &list->blocks, &list->unknown,
					       run->image);
	if (tries == LISTS_MAX)
		reach_candidates_drop_unseen(&run->kept);
	return !list->is_exact || unseen || tries < LISTS_MOVING;
}

/*
 * What the process has freed since the last pass was seen as lost: its last pointer is overwritten first. So was what is free, and was
 * taken for a block while lists of free ones changed.
 */
static int leaks_drop_freed(struct leaks_run *run, struct error *error)
{
	struct leaks_list list = { 0 };
	bool more = true;
	unsigned int tries;
	int code = 0;

	if (!run->kept.count)
		return 0;
	/* Nothing has changed meanwhile, so another look would show the same. */
	if (run->pass->is_quiet) {
		run->report->frees_unknown = !run->pass->is_exact;
		return 0;
	}
	for (tries = 1; !code && more && tries <= LISTS_MAX; tries++) {
		if (tries > 1)
			leaks_wait(LISTS_GAP_NS);
		leaks_list_free(&list);
		code = leaks_list(run, &list, error);
		if (!code)
			more = leaks_check_list(run, &list, tries);
	}
	run->report->frees_unknown = !code && !list.is_exact;
	leaks_list_free(&list);
	return code;
}

static void leaks_add(struct leak_sum *sum, uint64_t bytes)
{
	sum->blocks++;
	sum->bytes += bytes;
}

/* What is lost is as all passes have it; the rest as the last one. */
static void leaks_sum(struct leaks_run *run)
{
	struct leak_report *report = run->report;
	const struct reach_candidates *kept = &run->kept;
	size_t i, at = 0;

	for (i = 0; i < run->pass->graph.count; i++) {
		const struct reach_node *node = &run->pass->graph.nodes[i];
		const struct reach_block *block = &run->pass->blocks.items[i];
		enum leak_verdict verdict = node->verdict;

		while (at < kept->count && kept->items[at].address < block->address)
			at++;
		if (at < kept->count && kept->items[at].address == block->address)
			verdict = kept->items[at].verdict;
		else if (verdict != LEAK_REACHABLE && verdict != LEAK_STALE)
			verdict = LEAK_UNJUDGED;
		leaks_add(&report->sums[verdict], block->bytes);
		if (run->wanted->ret_state)
			leak_state_add(run->wanted->ret_state, block->address, block->bytes,
				       verdict);
		if (verdict != LEAK_REACHABLE)
			continue;
		leaks_add(&report->roots[node->root], block->bytes);
		if (node->heuristic != LEAK_HEURISTIC_NONE)
			leaks_add(&report->heuristics[node->heuristic], block->bytes);
	}
}

static struct leak_state_owner leaks_owner(const struct leaks_run *run)
{
	return (struct leak_state_owner){ .pid = (uint64_t)run->wanted->pid,
					  .start_time = run->image->program.start_time,
					  .vector = run->image->program.vector,
					  .wall_time = (int64_t)time(NULL) };
}

static int leaks_check_before(const struct leaks_run *run, struct error *error)
{
	const struct leak_state *before = run->wanted->before;
	const struct leak_state_owner now = leaks_owner(run);

	if (!before ||
	    (before->owner.pid == now.pid && before->owner.start_time == now.start_time &&
	     before->owner.vector == now.vector))
		return 0;
	if (before->owner.pid != now.pid)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the file of --since is of process %llu, and this one is %llu: "
				 "--save writes one of it",
				 (unsigned long long)before->owner.pid,
				 (unsigned long long)now.pid);
	return error_set(error, ERROR_USAGE, -EINVAL,
			 "the file of --since is of another process that was %llu, or of a "
			 "program that it executed before: --save writes one of it",
			 (unsigned long long)before->owner.pid);
}

/* What the candidates were at the look before. */
static void leaks_look_back(struct leaks_run *run)
{
	const struct leak_state *before = run->wanted->before;
	struct leak_state_cursor cursor = { 0 };
	size_t i;

	if (run->wanted->ret_state)
		run->wanted->ret_state->owner = leaks_owner(run);
	if (!before)
		return;
	run->report->has_before = true;
	run->report->before_time = before->owner.wall_time;
	for (i = 0; i < run->kept.count; i++)
		run->kept.items[i].before = (uint8_t)leak_state_find(
			before, &cursor, run->kept.items[i].address, run->kept.items[i].size);
}

/* What is not listed counts as roots. A pass that saw one moment stands alone. */
static void leaks_remark_motion(const struct leaks_run *run)
{
	const struct leaks_motion *motion = run->pass->is_quiet ? &run->pass->motion : &run->motion;
	char size[UNITS_TEXT_MAX];

	if (motion->bytes)
		leak_report_remark(run->report,
				   "The allocator was at work, so it is not clear which blocks of "
				   "%u size%s are free: they are not judged, and their memory, of "
				   "%s, counts as memory that holds pointers.",
				   (unsigned int)motion->sizes, units_s(motion->sizes),
				   units_format_size(motion->bytes, size));
}

static void leaks_remark_unread(const struct leaks_run *run)
{
	const struct reach_walk_left *left = &run->pass->left;
	char size[UNITS_TEXT_MAX], part[UNITS_TEXT_MAX];
	struct buffer name = { 0 };

	if (!left->unread_bytes)
		return;
	if (left->largest_bytes) {
		buffer_printf(&name, " The largest part, %s, is of ",
			      units_format_size(left->largest_bytes, part));
		text_append_safe(&name, *left->largest_name ? left->largest_name
							    : "memory without a name");
		buffer_append_string(&name, ".");
	}
	leak_report_remark(run->report,
			   "%s could not be read, or are memory of a device, or shared memory that "
			   "is not in the process's page table: they may hold pointers.%s",
			   units_format_size(left->unread_bytes, size), name.data ? name.data : "");
	buffer_free(&name);
}

/* A mapped ring may have no descriptor. aio's has never one. */
static unsigned int leaks_mapped_rings(const struct image *image)
{
	unsigned int found = 0;
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		if (!strcmp(image->mappings[i].name, IMAGE_RING_NAME))
			found |= KERNEL_HIDDEN_RINGS;
		if (!strncmp(image->mappings[i].name, "/[aio]", 6))
			found |= KERNEL_HIDDEN_AIO;
	}
	return found;
}

static void leaks_remark_kernel(struct leaks_run *run)
{
	static const struct {
		unsigned int hidden;
		const char *what;
	} rows[] = {
		{ KERNEL_HIDDEN_RINGS, "requests to io_uring" },
		{ KERNEL_HIDDEN_AIO, "requests to aio" },
		{ KERNEL_HIDDEN_SIGNALS, "values of signals that wait" },
	};
	unsigned int hidden = run->kernel_hides | run->pass->kernel_hides |
			      leaks_mapped_rings(run->image);
	size_t i;

	if (run->image->pid)
		hidden |= kernel_words_signals("/proc", run->image->pid);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (hidden & rows[i].hidden)
			leak_report_remark(
				run->report,
				"The kernel does not show %s of the process: they may hold "
				"pointers.",
				rows[i].what);
	run->report->kernel_unread = hidden;
}

/*
 * Where nothing ran, whatever does not agree is damage. Else only what is more than motion leaves.
 */
static void leaks_remark_damage(const struct leaks_run *run)
{
	const struct leaks_damage *damage = &run->pass->damage;
	struct leak_report *report = run->report;
	const char *at = damage->remarks.data, *end;
	char size[UNITS_TEXT_MAX];

	report->heap_is_damaged = leak_report_is_much(damage->unknown_bytes, damage->bytes) ||
				  leak_report_is_much(damage->places, damage->blocks);
	if (!report->heap_is_damaged && !run->pass->is_quiet)
		return;
	report->heap_unknown_bytes = damage->unknown_bytes;
	report->heap_unread = damage->unknown_bytes || damage->places || damage->remarks.length;
	for (; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		leak_report_remark(report, "malloc: %.*s.", (int)(end - at), at);
	}
	if (report->heap_is_damaged)
		leak_report_remark(
			report,
			"Much of the heap was not understood (%s, %llu place%s), as where "
			"a program has written beyond a block: lost blocks there are not "
			"found, and that none is lost is not known.",
			units_format_size(damage->unknown_bytes, size),
			(unsigned long long)damage->places, units_s(damage->places));
}

static void leaks_fill(struct leaks_run *run)
{
	struct leak_report *report = run->report;

	leaks_look_back(run);
	report->is_quiet = run->pass->is_quiet;
	report->is_ending = run->wanted->is_ending;
	report->is_restless = !run->pass->is_quiet && run->kept.count && run->agreed < PASSES_AGREE;
	report->has_registers = run->pass->has_registers;
	report->swapped_bytes = run->pass->left.swapped_bytes;
	report->unread_bytes = run->pass->left.unread_bytes;
	report->present_bytes = run->pass->left.read_bytes;
	report->pages_unknown = run->image->pages_unknown;
	report->read_bytes = run->image->usage.bytes;
	if (run->pass->sharer > 0)
		leak_report_remark(
			report,
			"Process %d shares the memory of this one, as a child of vfork() "
			"does, and may change it: nothing is certain.",
			(int)run->pass->sharer);
	if (run->pass->sharer < 0)
		leak_report_remark(report, "The kernel does not show whether other processes share "
					   "the memory of this one: nothing is certain.");
	if (!run->pass->threads.complete)
		leak_report_remark(report, "Not all threads were found: their storage counts as "
					   "memory that is no block.");
	if (run->pass->odd_blocks)
		leak_report_remark(report,
				   "Left out: %zu block%s that overlap others, so the heap changed "
				   "while it was walked.",
				   (size_t)run->pass->odd_blocks, units_s(run->pass->odd_blocks));
	if (run->pass->is_unused)
		leak_report_remark(report, "The program has called no function that allocates, of "
					   "those that are probed: there is no block.");
	leaks_remark_unread(run);
	leaks_remark_kernel(run);
	leaks_remark_motion(run);
	leaks_remark_damage(run);
	if (run->pass->graph.guesses_are_cut)
		leak_report_remark(report, "More pointers lead into blocks than heuristics are "
					   "asked about: some blocks may be reachable that are "
					   "possibly lost.");
	leaks_sum(run);
	report->who = run->wanted->who;
	if (!run->wanted->who)
		leaks_groups_fill(run->pass, &run->kept, report);
}

static int leaks_judge(struct leaks_run *run, struct error *error)
{
	int code;

	if (run->image->pid)
		run->kernel_hides = kernel_words_signals("/proc", run->image->pid);
	leaks_objects_find(&run->objects, run->image);
	code = leaks_passes(run, error);
	if (code)
		return code;
	if (!run->pass->is_quiet && !leaks_search(run, &run->kept))
		leak_report_remark(run->report, "There was no time to look for encoded addresses "
						"in all memory.");
	leaks_pause(run);
	code = leaks_hold_newer(run, error);
	if (!code)
		code = leaks_drop_freed(run, error);
	if (code)
		return code;
	leaks_fill(run);
	if (run->wanted->who)
		code = leaks_who_fill(run->pass, &run->kept, run->wanted->who, run->report, error);
	if (code)
		return code;
	if (!image_is_alive(run->image))
		return error_set(error, ERROR_TARGET, -ESRCH,
				 "process %d ended, or executed another program, while it was "
				 "looked at",
				 run->wanted->pid);
	return 0;
}

static int leaks_open(struct leaks_run *run, struct error *error)
{
	struct proc_status status;
	pid_t pid = run->wanted->pid;
	int code = proc_read_status("/proc", pid, &status);

	if (code)
		return error_set(error, code == -ESRCH ? ERROR_TARGET : ERROR_PERMISSION, code,
				 "there is no process %d", pid);
	if (status.pid != pid)
		return error_set(error, ERROR_TARGET, -ESRCH, "%d is a thread of process %d", pid,
				 status.pid);
	if (!proc_has_memory("/proc", proc_memory_thread("/proc", pid)))
		return proc_refuse_empty(&status, error);
	run->report->pid = pid;
	memcpy(run->report->comm, status.comm, sizeof(run->report->comm));
	code = image_open(pid, run->wanted->until_ns, &run->image, error);
	if (code)
		return code;
	code = leaks_check_before(run, error);
	if (code)
		return code;
	run->image->until_ns = run->wanted->until_ns;
	run->delay = cpu_delay_open(CPU_DELAY_OWN);
	run->delay_ns = cpu_delay_read(&run->delay);
	run->patience = (struct image_patience){ leaks_extend, run->wanted->is_over, run };
	run->image->patience = &run->patience;
	return 0;
}

int leaks_look(const struct leaks_wanted *wanted, struct leak_report *ret_report,
	       struct error *error)
{
	struct leaks_run run = { .wanted = wanted, .report = ret_report, .delay = { .fd = -1 } };
	uint64_t begin_ns = clock_now_ns();
	int code = leaks_open(&run, error);

	run.pass = run.passes;
	if (!code)
		code = leaks_judge(&run, error);
	ret_report->duration_ns = clock_now_ns() - begin_ns;
	ret_report->wall_time = (int64_t)time(NULL);
	leaks_pass_free(run.pass);
	leaks_objects_free(&run.objects);
	reach_candidates_free(&run.kept);
	cpu_delay_close(&run.delay);
	image_free(run.image);
	return code;
}
