/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See events.h. */
#include "follow/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

/* How far out of a mapping call the allocator's own function is that the program has called. */
#define ALLOCATOR_FRAMES 8

/* Interval of polling /proc for children and mappings where there are no task events, and for new CPUs where there are. */
#define LOOK_NS 1000000000

static void events_lose(struct events *events, uint64_t lost)
{
	struct follow *follow = events->follow;
	size_t i;

	process_table_forget_descendants(follow->processes);
	follow->select_ns = SELECT_NOW;
	events->records_lost += lost;
	follow->ended->lost_records |= lost > 0;
	follow->children_unknown = follow->children;
	for (i = 0; i < follow->processes->count; i++) {
		struct process *process = follow->processes->slots[i].process;

		process->needs_scan = true;
		ended_lose_records(follow->ended, process);
	}
}

static void events_add_seen(struct events *events, struct process *process, uint32_t module)
{
	events->seen = memory_grow(events->seen, events->seen_count, &events->seen_capacity,
				   sizeof(*events->seen));
	events->seen[events->seen_count++] = (struct seen_mapping){ process, module };
}

/* The kernel removes the states of threads that have ended only where it keeps them with the thread. */
static void events_forget_thread(const struct events *events, uint32_t thread)
{
	const struct maps *maps = events->follow->maps;

	maps_remove(maps, MAPS_THREADS_BY_ID, &thread);
	if (maps_exist(maps, MAPS_SHAPES))
		maps_remove(maps, MAPS_SHAPES, &thread);
	if (maps_exist(maps, MAPS_INTERP_WALKS_BY_ID))
		maps_remove(maps, MAPS_INTERP_WALKS_BY_ID, &thread);
}

/* A new process, or a program of one that is not traced. */
static void events_see_new_process(struct events *events, const struct sideband_event *event)
{
	struct new_process created = { .pid = event->pid, .time_ns = event->time_ns };
	struct follow *follow = events->follow;

	if (event->kind == SIDEBAND_FORK)
		created.parent = event->parent;
	created.is_descendant =
		follow->children &&
		process_table_is_descendant(follow->processes,
					    created.parent ? created.parent : created.pid);
	if (created.is_descendant && created.parent)
		process_table_add_descendant(follow->processes, created.pid);
	/* Others are only asked whether they run in the memory of a traced process. */
	if (created.is_descendant || follow_selects(follow) ||
	    process_table_find(follow->processes, created.parent))
		follow_add_new(follow, &created);
}

/*
 * Records that are read one after the other may be in the wrong order on a machine that never rests. The children of a process
 * whose own record comes after theirs were taken for a stranger's: /proc has them.
 */
static void events_see_fork(struct events *events, const struct sideband_event *event)
{
	struct follow *follow = events->follow;

	events_see_new_process(events, event);
	if (event->time_ns >= events->fork_ns)
		events->fork_ns = event->time_ns;
	else if (follow->children && process_table_is_descendant(follow->processes, event->pid))
		follow->children_unknown = true;
}

/*
 * The kernel ties probes to the first thread of a process, and with it they end when another thread executes a program.
 * They are put in again as its mappings come. The old links must be gone by then, or calls would be seen twice.
 */
static void events_probe_again(struct events *events, struct process *process)
{
	probe_set_forget(events->follow->scan->probes, process, true);
	process->first_thread_ended = false;
	events->late_execs++;
}

static void events_see_exec(struct events *events, struct process *process,
			    const struct sideband_event *event)
{
	struct follow *follow = events->follow;
	bool was_translated;

	/* It ran this program already when it was found: what is known of its mappings is of this one. */
	if (event->time_ns < process->opened_ns)
		return;
	ended_add_program(follow->ended, process, event->time_ns);
	was_translated = process->translator != NULL;
	process_see_exec(process, event);
	if (process->translator && !was_translated)
		scan_leave_translated(follow->scan, process);
	process->exec_missed = false;
	follow_publish(follow, process);
	interp_table_forget(follow->scan->interps, process);
	follow->ended->needs_reap = true;
	if (process->first_thread_ended && !follow->scan->probes->machine_wide)
		events_probe_again(events, process);
	process->warned_unprobed = process->translator != NULL; /* that was reported */
	process->frees_unseen = false;
	events_add_seen(events, process, MODULE_NONE);
}

static void events_see_exit(struct events *events, struct process *process,
			    const struct sideband_event *event)
{
	if (process)
		events_forget_thread(events, event->tid);
	if (event->pid != event->tid)
		return;
	process_table_remove_descendant(events->follow->processes, event->pid);
	late_forget(events->follow->scan->late, event->pid);
	if (process)
		process->first_thread_ended = true;
}

static void events_see_task(void *context, const struct sideband_event *event)
{
	struct events *events = context;
	struct process *process = process_table_find(events->follow->processes, event->pid);

	switch (event->kind) {
	case SIDEBAND_LOST:
		events_lose(events, event->lost);
		break;
	case SIDEBAND_FORK:
		if (process)
			process->is_replaced = event->time_ns > process->opened_ns;
		events_see_fork(events, event);
		break;
	case SIDEBAND_EXEC:
		if (process)
			events_see_exec(events, process, event);
		else
			events_see_new_process(events, event);
		break;
	case SIDEBAND_EXIT:
		events_see_exit(events, process, event);
		break;
	case SIDEBAND_MMAP:
		if (process)
			events_add_seen(
				events, process,
				process_see_mapping(process, events->follow->scan->modules, event));
		break;
	}
}

/*
 * Handle what events_see_task has found. Probing takes long; the tables by which stacks are walked are needed at once.
 * Children come next: their first calls are made while this goes on, and their files are mostly known.
 */
static void events_handle_seen(struct events *events)
{
	const struct scan *scan = events->follow->scan;
	const struct seen_mapping *seen = events->seen;
	size_t i;

	for (i = 0; i < events->seen_count; i++)
		if (i + 1 == events->seen_count || seen[i].process != seen[i + 1].process)
			scan_update_unwind(scan, seen[i].process);
	follow_new_processes(events->follow);
	for (i = 0; i < events->seen_count; i++) {
		scan_probe_new_module(scan, seen[i].process, seen[i].module);
		if (seen[i].module != MODULE_NONE)
			scan_see_interpreter(scan, seen[i].process);
	}
	events->seen_count = 0;
}

/* Read task events up to now. events_handle_seen must follow. */
static void events_read_tasks(struct events *events)
{
	events->read_until_ns = clock_now_ns();
	if (events->sideband)
		sideband_drain(events->sideband, events_see_task, events);
}

void events_catch_up(struct events *events)
{
	events_read_tasks(events);
	events_handle_seen(events);
}

/*
 * What happens on a new CPU until it is listened on was not reported: /proc shows what has come of it. Where it cannot be
 * listened on, /proc is polled from now on, as it is without any records: to have them of some CPUs only is of no use.
 */
static void events_update_cpus(struct events *events)
{
	int changed = sideband_update_cpus(events->sideband);

	if (changed)
		events_lose(events, 0);
	if (changed >= 0)
		return;
	log_write(events->follow->log, LOG_NOTICE,
		  "no records of processes from a CPU that came online (%s): polling /proc once a "
		  "second",
		  strerror(-changed));
	sideband_close(events->sideband);
	events->sideband = NULL;
	events->follow->ended->has_records = false;
}

void events_look(struct events *events)
{
	if (events->look_ns > clock_now_ns())
		return;
	if (events->sideband)
		events_update_cpus(events);
	else
		events_lose(events, 0);
	events->look_ns = clock_now_ns() + LOOK_NS;
}

bool events_cover(const struct events *events, uint64_t time_ns)
{
	return time_ns < events->read_until_ns;
}

static struct known_site *events_read_site(struct events *events, uint64_t key)
{
	struct known_site *known = sites_get(events->reader->sites, key);
	struct site record;

	if (known || !key)
		return known;
	if (maps_get(events->reader->maps, MAPS_SITES, &key, &record))
		return NULL;
	/* Mappings come before the stacks that run through them. */
	if (!events_cover(events, record.first_ns))
		events_read_tasks(events);
	return site_reader_read(events->reader, key, &record);
}

static bool mapping_is_new(const struct event_mapping *event)
{
	return event->phase == MAPPING_RETURN && event->op != CALL_MUNMAP &&
	       (int64_t)event->result != -1;
}

/*
 * What the C library's allocator maps for itself is no mapping of the program's. Inside malloc it is a nested call, but
 * free is seen at its entry only, and the first call of a thread, whichever it is, may map an arena.
 */
static bool events_map_arena(const struct events *events, const struct known_site *site)
{
	const struct planned_files *files = events->follow->scan->probes->files;
	uint32_t i;

	for (i = 0; site && site->stack && i < site->stack->count && i < ALLOCATOR_FRAMES; i++)
		if (planned_files_hold_inner(files, &site->stack->frames[i]))
			return true;
	return false;
}

static void events_see_mapping_call(struct events *events, const struct event_mapping *event)
{
	struct event_mapping own = *event;

	if (mapping_is_new(event) &&
	    events_map_arena(events, events_read_site(events, event->site)))
		own.site = 0;
	mapping_set_apply(events->mappings, &own);
}

static void events_see_record(void *context, const void *record, size_t size)
{
	struct events *events = context;
	const struct event_site *event = record;

	if (size >= sizeof(struct event_mapping) && event->kind == EVENT_MAPPING)
		events_see_mapping_call(events, record);
	else if (size >= sizeof(*event) && event->kind == EVENT_SITE)
		events_read_site(events, event->site);
	else if (size >= sizeof(struct event_process_end) && event->kind == EVENT_PROCESS_END)
		events->is_stopped = true;
}

void events_drain_ring(struct events *events)
{
	event_ring_drain(events->ring);
	events_handle_seen(events);
}

static int events_add_fd(const struct events *events, int fd)
{
	struct epoll_event interest = { .events = EPOLLIN };

	return epoll_ctl(events->epoll, EPOLL_CTL_ADD, fd, &interest) ? -errno : 0;
}

static int events_open_tasks(struct events *events)
{
	struct error refused = { 0 };

	if (!sideband_open(&events->sideband, &refused)) {
		events->follow->ended->has_records = true;
		return events_add_fd(events, sideband_fd(events->sideband));
	}
	log_write(events->follow->log, LOG_NOTICE,
		  "no records of new processes and libraries (%s): polling /proc once a second",
		  refused.text);
	return 0;
}

int events_open(struct events *events, const struct bpf_programs *programs, struct error *error)
{
	int code;

	events->epoll = epoll_create1(EPOLL_CLOEXEC);
	code = events->epoll < 0 ? -errno
				 : event_ring_open(bpf_programs_events(programs), events_see_record,
						   events, &events->ring);
	if (code)
		return error_set(error, ERROR_PERMISSION, code,
				 "cannot open the ring buffer of the BPF programs: %s",
				 strerror(-code));
	code = events_add_fd(events, event_ring_fd(events->ring));
	if (!code)
		code = events_add_fd(events, process_table_fd(events->follow->processes));
	events->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!code && events->timer >= 0)
		code = events_add_fd(events, events->timer);
	if (!code)
		code = events_open_tasks(events);
	events->look_ns = clock_now_ns() + LOOK_NS;
	if (code)
		error_set(error, ERROR_PERMISSION, code, "cannot wait for events: %s",
			  strerror(-code));
	return code;
}

void events_close(struct events *events)
{
	event_ring_close(events->ring);
	sideband_close(events->sideband);
	if (events->epoll >= 0)
		close(events->epoll);
	if (events->timer >= 0)
		close(events->timer);
	free(events->seen);
}

bool events_are_unhandled(const struct events *events)
{
	const struct follow *follow = events->follow;

	return follow->new_count || events->seen_count || follow->children_unknown ||
	       follow->select_ns == SELECT_NOW;
}

void events_set_timer(const struct events *events, uint64_t time_ns)
{
	struct itimerspec when = { .it_value = clock_timespec(time_ns) };

	timerfd_settime(events->timer, TFD_TIMER_ABSTIME, &when, NULL);
}
