/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that no traced process has mapped any more: their unwind tables make room for others, their descriptors are
 * closed, and what is kept of them goes when no stack shows them.
 *
 * A site that shows frames in such a file is known by then, and resolved: whatever can still come is a stack that was taken
 * when the file was mapped, a moment ago. So mappings that ended less than GRACE_NS before events were last read, however long
 * what was read has taken, count as if they were there. A site
 * whose event was dropped is read from the programs' table first. The names of the frames that are shown are asked for
 * before the file is closed, and kept.
 *
 * It is done when many files have come since the last time, so that it costs each of them little; and at once when there are
 * no descriptors left or no room for tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "decode/plan_module.h"
#include "session/parts.h"

/* Longer than any walk takes until its event can be read. */
#define GRACE_NS 250000000

/* Files that come, at least, until it is done again. */
#define STEP_MIN 128

/* When something has run out, it is tried again after so long, which doubles each time. */
#define RETRY_MIN_NS 250000000ull
#define RETRY_MAX_NS 8000000000ull

/* Files that stay open because stacks show them: they are named when a report asks for them, if one does. */
#define SHOWN_OPEN_MAX 64

/* The programs' events wait while frames are named. */
#define NAMING_NS 1000000000

/* A frame of a file that is to be closed. */
struct shown_frame {
	const struct frame *frame;
	uint32_t module;
};

struct recycling {
	struct session *session;
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
	const struct session *session = work->session;
	const struct table_slot *slot;
	size_t cursor = 0, i;

	while ((slot = table_next(&session->sites.sites, &cursor)))
		recycling_visit(work, ((const struct known_site *)slot->value)->stack, visit);
	for (i = 0; i < session->ended_site_count; i++)
		recycling_visit(work, session->ended_sites[i].row.stack, visit);
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

/* Mappings that have ended and were not told of are found by a scan. */
static void recycling_scan(struct session *session)
{
	size_t i;

	for (i = 0; i < session->process_count; i++)
		if (!address_space_is_scanned(session->processes[i]->space))
			session_scan(session, session->processes[i], session_now());
}

/* `read_ns`: when events were last read. */
static void recycling_mark(struct recycling *work, uint64_t read_ns)
{
	const struct session *session = work->session;
	size_t i;

	for (i = 0; i < session->process_count; i++) {
		address_space_forget_ended(session->processes[i]->space, read_ns - GRACE_NS);
		address_space_mark(session->processes[i]->space, work->used);
	}
	for (i = 0; i < session->probed_count; i++)
		work->used[session->probed[i].module] = true;
	for (i = 0; i < session->file_count; i++)
		if (session->files[i].count)
			work->shown[session->files[i].module] = true;
	for (i = 0; i < work->count; i++)
		if (!work->modules->items[i] || work->modules->items[i]->awaited)
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
	struct session *session = work->session;
	size_t i, kept = 0;

	for (i = 0; i < session->file_count; i++) {
		struct planned_file *file = &session->files[i];

		if (file->module == module)
			file->device = file->inode = 0;
		if (file->module != module || file->count)
			session->files[kept++] = *file;
	}
	session->file_count = kept;
	plan_forget_module(&session->plan, module);
	interp_table_forget_module(session->interps, module);
	module_list_close(work->modules, module);
}

/* Name the frames of shown files, file after file, and close those. The rest is left to the next time when it takes long. */
static void recycling_close_shown(struct recycling *work)
{
	const struct session_names *names = &work->session->options.names;
	uint64_t until = session_now() + NAMING_NS;
	uint32_t module;
	size_t at = 0;

	recycling_visit_all(work, recycling_collect_frame);
	qsort(work->frames, work->frame_count, sizeof(*work->frames), shown_frame_compare);
	for (module = 0; module < work->count && session_now() < until; module++) {
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
	const struct session_names *names = &work->session->options.names;
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
	struct session *session = work->session;
	size_t i;

	for (i = 0; i < session->process_count; i++) {
		if (work->modules->starved)
			session_scan(session, session->processes[i], session_now());
		else if (has_room && !session->processes[i]->target.exited)
			session_update_unwind(session, session->processes[i]);
	}
}

static void session_recycle(struct session *session, uint64_t read_ns)
{
	struct module_list *modules = session->options.modules;
	struct recycling work = { .session = session, .modules = modules };
	bool has_room;

	recycling_scan(session);
	work.count = modules->count;
	work.used = memory_alloc(work.count, sizeof(*work.used));
	work.shown = memory_alloc(work.count, sizeof(*work.shown));
	work.closing = memory_alloc(work.count, sizeof(*work.closing));
	recycling_mark(&work, read_ns);
	recycling_choose(&work);
	has_room =
		unwind_loader_forget_modules(session->unwind, work.unmapped, work.unmapped_count);
	recycling_close_shown(&work);
	recycling_remove_hidden(&work);
	recycling_try_again(&work, has_room);
	free(work.used);
	free(work.shown);
	free(work.closing);
	free(work.frames);
	free(work.unmapped);
	session->recycle_met = modules->met;
	session->recycle_step = modules->open / 2 > STEP_MIN ? modules->open / 2 : STEP_MIN;
}

/* Has something run out? */
static bool session_is_short(struct session *session)
{
	const struct module_list *modules = session->options.modules;

	if (modules->starved && !session->said_starved) {
		session->said_starved = true;
		log_write(
			session->options.log, LOG_NOTICE,
			"too many files are open: what is in files that are mapped from now on has "
			"no names, and stacks may end there; raise the limit (ulimit -Hn)");
	}
	return modules->starved || unwind_loader_is_full(session->unwind);
}

void session_poll_recycling(struct session *session, uint64_t now)
{
	const struct module_list *modules = session->options.modules;
	bool is_short = session_is_short(session);

	if (!session->start_ns || session->seen_count)
		return;
	if (!session->recycle_step)
		session->recycle_step = STEP_MIN;
	if (modules->met - session->recycle_met < session->recycle_step &&
	    (!is_short || now < session->recycle_ns))
		return;
	/* What the programs could not tell of is in their tables. */
	if (session_loss(session, LOSS_EVENTS_DROPPED) != session->recycle_dropped) {
		session->recycle_dropped = session_loss(session, LOSS_EVENTS_DROPPED);
		session_bury(session);
	}
	session_recycle(session, now);
	session->recycle_wait_ns = session_is_short(session) ? 2 * session->recycle_wait_ns : 0;
	if (session->recycle_wait_ns < RETRY_MIN_NS)
		session->recycle_wait_ns = RETRY_MIN_NS;
	if (session->recycle_wait_ns > RETRY_MAX_NS)
		session->recycle_wait_ns = RETRY_MAX_NS;
	session->recycle_ns = now + session->recycle_wait_ns;
}

uint64_t session_recycle_due(struct session *session)
{
	return session->start_ns && session_is_short(session) ? session->recycle_ns : 0;
}
