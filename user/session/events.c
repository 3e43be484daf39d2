/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session hears while it runs: from the kernel about mappings, execs and exits of its processes, from its
 * programs about new sites and mapping calls.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "discover/module_finder.h"
#include "session/parts.h"
#include "tracer.skel.h"
#include "unwind_abi.h"

/* How far out of a mapping call the allocator's own function is that the program has called. */
#define ALLOCATOR_FRAMES 8

/* Ends of processes that are handled in one turn. */
#define ENDED_AT_ONCE 64

/* How often is looked for children and mappings where the kernel does not tell of them. */
#define LOOK_NS 1000000000

/*
 * The sites of a process are of two programs, and the exec between them was not told: the newer one began no later than
 * its first site. Where events get lost, that may become known later than the site.
 */
static void session_infer_exec(struct session *session, struct process *process, uint64_t time_ns)
{
	process->exec_untold = session->sideband && !session->records_lost;
	if (process->exec_untold)
		return;
	session_keep_program(session, process, time_ns);
	process_see_program(process, time_ns);
	session->has_dead = true;
}

static void session_miss_events(struct session *session, uint64_t lost)
{
	size_t i;

	table_free(&session->kin);
	session->select_ns = SELECT_NOW;
	session->records_lost += lost;
	session->children_unknown = session->options.follow_fork;
	for (i = 0; i < session->process_count; i++) {
		struct process *process = session->processes[i];

		process->needs_scan = true;
		if (process->exec_untold)
			session_infer_exec(session, process, process->image_first_ns);
	}
}

static void session_see_module(struct session *session, struct process *process, uint32_t module)
{
	session->seen = memory_grow(session->seen, session->seen_count, &session->seen_capacity,
				    sizeof(*session->seen));
	session->seen[session->seen_count++] =
		(struct probed_file){ .module = module, .process = process };
}

/* The kernel removes the states of threads that have ended only where it keeps them with the thread. */
static void session_forget_thread(const struct session *session, pid_t thread)
{
	uint32_t id = (uint32_t)thread;

	bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.threads_by_id), &id);
	if (bpf_map__autocreate(session->bpf->maps.shapes))
		bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.shapes), &id);
	if (bpf_map__autocreate(session->bpf->maps.interp_walks_by_id))
		bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.interp_walks_by_id), &id);
}

/* A new process, or a program of one that is not traced. */
static void session_see_birth(struct session *session, const struct sideband_event *event)
{
	struct birth birth = { .pid = event->pid, .time_ns = event->time_ns };

	if (event->kind == SIDEBAND_FORK)
		birth.parent = event->parent;
	birth.kin = session->options.follow_fork &&
		    session_is_kin(session, birth.parent ? birth.parent : birth.pid);
	if (birth.kin)
		table_put(&session->kin, birth.pid, session);
	/* Others are only asked whether they run in the memory of a traced process. */
	if (birth.kin || session_selects(session) || session_find_process(session, birth.parent))
		session_note_birth(session, &birth);
}

/*
 * The kernel ties probes to the first thread of a process, and with it they end when another thread executes a program.
 * They are put in again as its mappings come. The old links must be gone by then, or calls would be seen twice.
 */
static void session_probe_again(struct session *session, struct process *process)
{
	uint32_t position = session_owner_number(session, process) - 1;

	session_forget_probes(session, process);
	attachment_close(&session->slots[position].attachment);
	process->first_thread_ended = false;
	session->late_execs++;
}

static void session_see_exec(struct session *session, struct process *process,
			     const struct sideband_event *event)
{
	/* It ran this program already when it was found: what is known of its mappings is of this one. */
	if (event->time_ns < process->opened_ns)
		return;
	session_keep_program(session, process, event->time_ns);
	process_see_exec(process, event);
	process->exec_untold = false;
	session_tell_owner(session, process);
	interp_table_forget(session->interps, process);
	session->has_dead = true;
	if (process->first_thread_ended && !session_is_machine_wide(session))
		session_probe_again(session, process);
	process->said_unprobed = false;
	process->frees_unseen = false;
	session_see_module(session, process, MODULE_NONE);
}

static void session_see_event(void *context, const struct sideband_event *event)
{
	struct session *session = context;
	struct process *process;
	uint32_t module;

	if (event->kind == SIDEBAND_LOST) {
		session_miss_events(session, event->lost);
		return;
	}
	process = session_find_process(session, event->pid);
	if (process && event->kind == SIDEBAND_EXIT)
		session_forget_thread(session, (pid_t)event->tid);
	if (process && event->kind == SIDEBAND_FORK)
		process->is_replaced = event->time_ns > process->opened_ns;
	if (event->kind == SIDEBAND_FORK || (event->kind == SIDEBAND_EXEC && !process))
		session_see_birth(session, event);
	if (event->kind == SIDEBAND_EXIT && event->pid == event->tid) {
		table_remove(&session->kin, event->pid);
		table_remove(&session->sharers, event->pid);
	}
	if (!process || event->kind == SIDEBAND_FORK)
		return;
	if (event->kind == SIDEBAND_EXIT && event->pid == event->tid)
		process->first_thread_ended = true;
	if (event->kind == SIDEBAND_EXEC) {
		session_see_exec(session, process, event);
	} else if (event->kind == SIDEBAND_MMAP) {
		module = process_see_mapping(process, session->options.modules, event);
		session_see_module(session, process, module);
	}
}

/*
 * Handle what session_see_event has found. Probing takes long; the tables by which stacks are walked are needed at once.
 * Children come next: their first calls are made while this goes on, and their files are mostly known.
 */
static void session_handle_seen(struct session *session)
{
	struct probed_file *seen = session->seen;
	size_t i;

	for (i = 0; i < session->seen_count; i++)
		if (i + 1 == session->seen_count || seen[i].process != seen[i + 1].process)
			session_update_unwind(session, seen[i].process);
	session_handle_births(session);
	for (i = 0; i < session->seen_count; i++) {
		session_probe_quietly(session, seen[i].process, seen[i].module);
		if (seen[i].module != MODULE_NONE)
			session_see_interpreter(session, seen[i].process);
	}
	session->seen_count = 0;
}

/* Hear what the kernel has told of processes so far. session_handle_seen must follow. */
static void session_hear(struct session *session)
{
	session->heard_ns = session_now();
	if (session->sideband)
		sideband_drain(session->sideband, session_see_event, session);
}

void session_catch_up(struct session *session)
{
	session_hear(session);
	session_handle_seen(session);
}

bool session_has_heard(const struct session *session, uint64_t time_ns)
{
	return time_ns < session->heard_ns;
}

/* The process of a site; NULL if the site is of none of ours. */
static struct process *session_owner(const struct session *session, uint32_t owner)
{
	return owner && owner <= session->process_count ? session->processes[owner - 1] : NULL;
}

/* Look at the program that a new site is of. Sites may come to be known in any order. */
static void session_compare_program(struct session *session, const struct known_site *site)
{
	struct process *process = site->process;
	uint64_t first_ns = site->record.first_ns, image_ns = process->target.image_ns;
	bool is_newer = !process->image_first_ns ||
			(int32_t)(site->record.image - process->image) > 0;

	/* Nobody has told of the exec of a command that was held. */
	if (!session->sideband && !process->image_first_ns)
		process_see_program(process, image_ns);
	if (is_newer) {
		if (process->image_first_ns && process->image_first_ns >= image_ns)
			session_infer_exec(session, process, first_ns);
		process->image = site->record.image;
		process->image_first_ns = first_ns;
	} else if (site->record.image != process->image) {
		if (first_ns >= image_ns)
			session_infer_exec(session, process, process->image_first_ns);
	} else if (first_ns < process->image_first_ns) {
		process->image_first_ns = first_ns;
		if (first_ns < image_ns)
			process->target.image_ns = first_ns;
	}
}

/* Put the frames of the interpreter that ran into the stack of a new site. */
static void session_merge_interpreter(struct session *session, struct known_site *site)
{
	struct interp_record record;

	if (!bpf_map_lookup_elem(bpf_map__fd(session->bpf->maps.interp_stacks), &site->record.stack,
				 &record))
		site->stack =
			interp_table_merge(session->interps, site->process, site->stack, &record);
}

/* Say of a file, once, that stacks end in it for lack of unwind tables. Where those found no room, that was said. */
static void session_say_without_tables(const struct session *session, const struct stack *stack)
{
	const struct frame *frame = NULL;
	struct module *module;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind == FRAME_NATIVE)
			frame = &stack->frames[i];
	module = frame ? module_list_get(session->options.modules, frame->module) : NULL;
	if (!module || module->said_without_tables || unwind_loader_is_full(session->unwind))
		return;
	module->said_without_tables = true;
	log_write(session->options.log, LOG_NOTICE,
		  "stacks end in %s: not all of its code has unwind tables", module->path);
}

struct known_site *session_learn_record(struct session *session, uint64_t key,
					const struct site *record)
{
	struct process *process = session_owner(session, record->owner);
	struct known_site *known = site_table_get(&session->sites, key);
	struct stack_record stack;
	bool found;

	if (known) {
		site_table_set(known, record);
		return known;
	}
	if (!process)
		return NULL;
	found = record->stack && !bpf_map_lookup_elem(bpf_map__fd(session->bpf->maps.stacks),
						      &record->stack, &stack);
	if (site_table_add(&session->sites, key, record, process, found ? &stack : NULL)) {
		session_scan(session, process, session_now());
		site_table_resolve(site_table_get(&session->sites, key));
	}
	known = site_table_get(&session->sites, key);
	if (found && (stack.end & ~(uint32_t)UNWIND_END_GUESSED) == UNWIND_END_NO_ROWS)
		session_say_without_tables(session, known->stack);
	session_drop_allocator(session, known);
	jit_names_fill(session->jit_names, &process->target, known->stack);
	if (found)
		session_merge_interpreter(session, known);
	session_compare_program(session, known);
	return known;
}

struct known_site *session_learn_site(struct session *session, uint64_t key)
{
	struct known_site *known = site_table_get(&session->sites, key);
	struct site record;

	if (known || !key)
		return known;
	if (bpf_map_lookup_elem(bpf_map__fd(session->bpf->maps.sites), &key, &record))
		return NULL;
	/* Mappings come before the stacks that run through them. */
	if (!session_has_heard(session, record.first_ns))
		session_hear(session);
	return session_learn_record(session, key, &record);
}

bool session_site_is_current(const struct known_site *site)
{
	return !site->process->buried && site->record.first_ns >= site->process->target.image_ns;
}

static bool mapping_is_new(const struct event_mapping *event)
{
	return event->phase == MAPPING_RETURN && event->op != CALL_MUNMAP &&
	       (int64_t)event->result != -1;
}

static bool session_is_in_allocator(const struct session *session, const struct frame *frame)
{
	size_t i;

	for (i = 0; i < session->file_count; i++)
		if (session->files[i].module == frame->module &&
		    frame->offset >= session->files[i].inner_low &&
		    frame->offset < session->files[i].inner_high)
			return true;
	return false;
}

/*
 * What the C library's allocator maps for itself is no mapping of the program's. Inside malloc it is a nested call, but
 * free is seen at its entry only, and the first call of a thread, whichever it is, may map an arena.
 */
static bool session_maps_arena(const struct session *session, const struct known_site *site)
{
	uint32_t i;

	for (i = 0; site && site->stack && i < site->stack->count && i < ALLOCATOR_FRAMES; i++)
		if (session_is_in_allocator(session, &site->stack->frames[i]))
			return true;
	return false;
}

static void session_see_mapping_call(struct session *session, const struct event_mapping *event)
{
	struct event_mapping own = *event;

	if (mapping_is_new(event) &&
	    session_maps_arena(session, session_learn_site(session, event->site)))
		own.site = 0;
	mapping_set_apply(session->mappings, &own);
}

static int session_see_record(void *context, void *data, size_t size)
{
	struct session *session = context;
	const struct event_site *event = data;

	if (size >= sizeof(struct event_mapping) && event->kind == EVENT_MAPPING)
		session_see_mapping_call(session, data);
	else if (size >= sizeof(*event) && event->kind == EVENT_SITE)
		session_learn_site(session, event->site);
	return 0;
}

static int session_listen(struct session *session, int fd)
{
	struct epoll_event interest = { .events = EPOLLIN };

	return epoll_ctl(session->epoll, EPOLL_CTL_ADD, fd, &interest) ? -errno : 0;
}

int session_watch_open(struct session *session, struct error *error)
{
	struct error refused = { 0 };
	int code = 0;

	session->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (session->epoll >= 0)
		session->ring = ring_buffer__new(bpf_map__fd(session->bpf->maps.events),
						 session_see_record, session, NULL);
	if (!session->ring)
		return error_set(error, ERROR_PERMISSION, -errno,
				 "cannot open the ring buffer of the programs: %s",
				 strerror(errno));
	code = session_listen(session, ring_buffer__epoll_fd(session->ring));
	session->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!code && session->timer >= 0)
		code = session_listen(session, session->timer);
	if (!code && !sideband_open(&session->sideband, &refused))
		code = session_listen(session, sideband_fd(session->sideband));
	if (!session->sideband)
		log_write(session->options.log, LOG_NOTICE,
			  "new processes and libraries are looked for once a second, because the "
			  "kernel does not tell of them: %s",
			  refused.text);
	session->look_ns = session_now() + LOOK_NS;
	if (code)
		error_set(error, ERROR_PERMISSION, code, "cannot wait for events: %s",
			  strerror(-code));
	return code;
}

void session_watch_close(struct session *session)
{
	ring_buffer__free(session->ring);
	sideband_close(session->sideband);
	if (session->epoll >= 0)
		close(session->epoll);
	if (session->timer >= 0)
		close(session->timer);
}

int session_fd(const struct session *session)
{
	return session->epoll;
}

/*
 * Stacks make the session hear, too: what has come up then nobody else would wake it for, because the kernel tells of a
 * record only once.
 */
static bool session_has_unhandled(const struct session *session)
{
	return session->birth_count || session->seen_count || session->children_unknown ||
	       session->select_ns == SELECT_NOW;
}

void session_poll(struct session *session)
{
	uint64_t now = session_now(), next = interp_table_poll(session->interps, now), recycle;
	struct itimerspec when = { 0 };
	size_t i;

	if (session->has_dead && session->bury_ns <= now)
		session_bury(session);
	if (session->has_dead && (!next || session->bury_ns < next))
		next = session->bury_ns;
	if (session_selects(session) && (!next || session->select_ns < next))
		next = session->select_ns;
	if (!session->sideband && (!next || session->look_ns < next))
		next = session->look_ns;
	for (i = 0; i < session->process_count; i++)
		if (session->processes[i]->needs_scan && !session->processes[i]->target.exited &&
		    (!next || session_scan_due(session->processes[i]) < next))
			next = session_scan_due(session->processes[i]);
	recycle = session_recycle_due(session);
	if (recycle && (!next || recycle < next))
		next = recycle;
	session_probe_interpreters(session);
	if (session_has_unhandled(session))
		next = 1;
	when.it_value.tv_sec = (time_t)(next / 1000000000);
	when.it_value.tv_nsec = (long)(next % 1000000000);
	timerfd_settime(session->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/*
 * Mappings come before the stacks that run through them, and the end of a process after all that it has told: it had
 * ended before the rest was read.
 */
void session_drain(struct session *session)
{
	uint32_t ended[ENDED_AT_ONCE];
	size_t i, count = session_find_ended(session, ended, ENDED_AT_ONCE);
	uint64_t now;

	session_catch_up(session);
	if (!session->sideband && session->look_ns <= session_now()) {
		session_miss_events(session, 0);
		session->look_ns = session_now() + LOOK_NS;
	}
	if (session->children_unknown)
		session_find_children(session);
	session_handle_births(session);
	if (session->select_ns && session->select_ns <= session_now()) {
		session->select_ns = 0;
		session_select(session);
	}
	for (i = 0; i < session->process_count; i++)
		if (session->processes[i]->needs_scan)
			session_scan(session, session->processes[i], session_now());
	ring_buffer__consume(session->ring);
	session_handle_seen(session);
	session_end_processes(session, ended, count);
	/* Stacks that were taken in files that are unmapped by now are read before those files are closed. */
	now = session_now();
	ring_buffer__consume(session->ring);
	session_handle_seen(session);
	session_poll_recycling(session, now);
	session_poll(session);
}
