/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_gc.h. */
#include "follow/module_gc.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/* Longer than any walk takes until its event can be read. */
#define GRACE_NS 250000000

/* Files that come, at least, until it is done again. */
#define STEP_MIN 128

/* When something has run out, it is tried again after so long, which doubles each time. */
#define RETRY_MIN_NS 250000000ull
#define RETRY_MAX_NS 8000000000ull

/* Files that stay open because stacks show them: they are named when a report asks for them, if one does. */
#define SHOWN_OPEN_MAX 64

/* Records of BPF programs wait while frames are named. */
#define NAMING_NS 1000000000

/* A frame of a file that is to be closed. */
struct shown_frame {
	const struct frame *frame;
	uint32_t module;
};

/* One run. */
struct recycling {
	struct module_gc *gc;
	struct module_list *modules;
	size_t count; /* of modules, when it began */
	bool *used; /* by index: mapped, probed in a process, or going to be mapped */
	bool *shown; /* by index: some site has a frame in it, or the plan a function */
	bool *closing; /* by index: shown, and to be named and closed */
	struct shown_frame *frames;
	size_t frame_count, frame_capacity;
	uint32_t *unmapped; /* indexes */
	size_t unmapped_count, unmapped_capacity;
};

static void recycling_visit(struct recycling *work, const struct stack *stack,
			    void (*visit)(struct recycling *work, const struct frame *frame))
{
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind == FRAME_NATIVE && stack->frames[i].module < work->count)
			visit(work, &stack->frames[i]);
}

/* Frames of all stacks that are kept. */
static void recycling_visit_all(struct recycling *work,
				void (*visit)(struct recycling *work, const struct frame *frame))
{
	const struct ended *ended = work->gc->ended;
	const struct table_slot *slot;
	size_t cursor = 0, i;

	while ((slot = table_next(&work->gc->sites->by_key, &cursor)))
		recycling_visit(work, ((const struct known_site *)slot->value)->stack, visit);
	for (i = 0; i < ended->site_count; i++)
		recycling_visit(work, ended->sites[i].row.stack, visit);
}

static void recycling_see_frame(struct recycling *work, const struct frame *frame)
{
	work->shown[frame->module] = true;
}

static void recycling_collect_frame(struct recycling *work, const struct frame *frame)
{
	if (!work->closing[frame->module])
		return;
	work->frames = memory_grow(work->frames, work->frame_count, &work->frame_capacity,
				   sizeof(*work->frames));
	work->frames[work->frame_count++] = (struct shown_frame){ frame, frame->module };
}

/* Mappings that have ended without a record are found by a scan. */
static void recycling_scan(const struct module_gc *gc)
{
	size_t i;

	for (i = 0; i < gc->processes->count; i++) {
		struct process *process = gc->processes->slots[i].process;

		if (!address_space_is_scanned(process->space))
			scan_process(gc->scan, process, clock_now_ns());
	}
}

/* `read_ns`: when events were last read. */
static void recycling_mark(struct recycling *work, uint64_t read_ns)
{
	const struct process_table *processes = work->gc->processes;
	const struct probe_set *probes = work->gc->scan->probes;
	const struct planned_files *files = probes->files;
	size_t i;

	for (i = 0; i < processes->count; i++) {
		address_space_forget_ended(processes->slots[i].process->space, read_ns - GRACE_NS);
		address_space_mark(processes->slots[i].process->space, work->used);
	}
	for (i = 0; i < probes->count; i++)
		work->used[probes->probed[i].module] = true;
	for (i = 0; i < files->count; i++)
		if (files->items[i].count)
			work->shown[files->items[i].module] = true;
	for (i = 0; i < work->count; i++)
		if (!work->modules->items[i] || work->modules->items[i]->expected)
			work->used[i] = true;
	recycling_visit_all(work, recycling_see_frame);
}

static void recycling_choose(struct recycling *work)
{
	size_t i, open = 0;

	for (i = 0; i < work->count; i++) {
		if (work->used[i])
			continue;
		work->unmapped = memory_grow(work->unmapped, work->unmapped_count,
					     &work->unmapped_capacity, sizeof(*work->unmapped));
		work->unmapped[work->unmapped_count++] = (uint32_t)i;
		if (work->shown[i] && work->modules->items[i]->fd >= 0)
			work->closing[i] = ++open > SHOWN_OPEN_MAX;
	}
}

static int shown_frame_compare(const void *a, const void *b)
{
	const struct shown_frame *left = a, *right = b;

	return (left->module > right->module) - (left->module < right->module);
}

/*
 * Nothing that is kept for the file itself holds for another one with its index or its inode number. Where it is probed stays in
 * the plan, for the file itself, should it come again.
 */
static void recycling_close(struct recycling *work, uint32_t module)
{
	planned_files_forget(work->gc->scan->probes->files, module);
	interp_table_forget_module(work->gc->scan->interps, module);
	module_list_close(work->modules, module);
}

/* Name the frames of shown files, file after file, and close those. The rest is left to the next time when it takes long. */
static void recycling_close_shown(struct recycling *work)
{
	const struct frame_namer *names = &work->gc->names;
	uint64_t until = clock_now_ns() + NAMING_NS;
	uint32_t module;
	size_t at = 0;

	recycling_visit_all(work, recycling_collect_frame);
	if (work->frame_count)
		qsort(work->frames, work->frame_count, sizeof(*work->frames), shown_frame_compare);
	for (module = 0; module < work->count && clock_now_ns() < until; module++) {
		if (!work->closing[module])
			continue;
		for (; at < work->frame_count && work->frames[at].module == module; at++)
			if (names->look_up)
				names->look_up(names->context, work->frames[at].frame);
		recycling_close(work, module);
	}
}

static void recycling_remove_hidden(struct recycling *work)
{
	const struct frame_namer *names = &work->gc->names;
	size_t i;

	for (i = 0; i < work->unmapped_count; i++) {
		uint32_t module = work->unmapped[i];

		if (work->shown[module])
			continue;
		recycling_close(work, module);
		if (names->forget)
			names->forget(names->context, module);
		module_list_remove(work->modules, module);
	}
}

/* There is room or a descriptor for what found none: have all mappings looked at again. */
static void recycling_try_again(struct recycling *work, bool has_room)
{
	const struct module_gc *gc = work->gc;
	size_t i;

	for (i = 0; i < gc->processes->count; i++) {
		struct process *process = gc->processes->slots[i].process;

		if (work->modules->no_fd)
			scan_process(gc->scan, process, clock_now_ns());
		else if (has_room && !process->target.exited)
			scan_update_unwind(gc->scan, process);
	}
}

static void module_gc_recycle(struct module_gc *gc, uint64_t read_ns)
{
	struct module_list *modules = gc->scan->modules;
	struct recycling work = { .gc = gc, .modules = modules };
	bool has_room;

	recycling_scan(gc);
	work.count = modules->count;
	work.used = memory_alloc(work.count, sizeof(*work.used));
	work.shown = memory_alloc(work.count, sizeof(*work.shown));
	work.closing = memory_alloc(work.count, sizeof(*work.closing));
	recycling_mark(&work, read_ns);
	recycling_choose(&work);
	has_room =
		unwind_loader_forget_modules(gc->scan->unwind, work.unmapped, work.unmapped_count);
	recycling_close_shown(&work);
	recycling_remove_hidden(&work);
	recycling_try_again(&work, has_room);
	free(work.used);
	free(work.shown);
	free(work.closing);
	free(work.frames);
	free(work.unmapped);
	gc->opens = modules->opens;
	gc->step = modules->open / 2 > STEP_MIN ? modules->open / 2 : STEP_MIN;
}

/* Has something run out? */
static bool module_gc_is_short(const struct module_gc *gc)
{
	const struct module_list *modules = gc->scan->modules;

	if (modules->no_fd)
		notices_out_of_files(gc->notices);
	return modules->no_fd || unwind_loader_is_full(gc->scan->unwind);
}

bool module_gc_is_due(const struct module_gc *gc, uint64_t now_ns)
{
	size_t step = gc->step ? gc->step : STEP_MIN;

	return (module_gc_is_short(gc) && now_ns >= gc->due_ns) ||
	       gc->scan->modules->opens - gc->opens >= step;
}

void module_gc_run(struct module_gc *gc, uint64_t read_ns)
{
	module_gc_recycle(gc, read_ns);
	gc->wait_ns = module_gc_is_short(gc) ? 2 * gc->wait_ns : 0;
	if (gc->wait_ns < RETRY_MIN_NS)
		gc->wait_ns = RETRY_MIN_NS;
	if (gc->wait_ns > RETRY_MAX_NS)
		gc->wait_ns = RETRY_MAX_NS;
	gc->due_ns = read_ns + gc->wait_ns;
}

uint64_t module_gc_deadline(const struct module_gc *gc)
{
	return module_gc_is_short(gc) ? gc->due_ns : 0;
}
