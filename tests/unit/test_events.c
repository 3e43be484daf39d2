/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of the kernel's records of processes, in any order and with gaps, and of those of the BPF programs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "system/proc.h"
#include "unit/session_world.h"

#define PAGE 4096

static void see_fork(pid_t pid, pid_t parent, uint64_t time_ns)
{
	const struct sideband_event event = { .kind = SIDEBAND_FORK,
					      .pid = (uint32_t)pid,
					      .tid = (uint32_t)pid,
					      .parent = (uint32_t)parent,
					      .time_ns = time_ns };

	fake_task_event(&event);
}

static void see_exec(pid_t pid, uint64_t time_ns)
{
	const struct sideband_event event = { .kind = SIDEBAND_EXEC,
					      .pid = (uint32_t)pid,
					      .tid = (uint32_t)pid,
					      .time_ns = time_ns,
					      .comm = "another" };

	fake_task_event(&event);
}

static void see_exit(pid_t pid, pid_t thread)
{
	const struct sideband_event event = { .kind = SIDEBAND_EXIT,
					      .pid = (uint32_t)pid,
					      .tid = (uint32_t)thread,
					      .time_ns = clock_now_ns() };

	fake_task_event(&event);
}

static void see_lost(uint64_t count)
{
	const struct sideband_event event = { .kind = SIDEBAND_LOST, .lost = count };

	fake_task_event(&event);
}

/* What a record says of a mapping. */
struct recorded {
	uint64_t start; /* there, or at another address than the file is mapped at */
	bool shared;
	bool executes; /* another program, before the record is read */
};

/* The record of a mapping of the file that a child has mapped at `start`. */
static void see_recorded(pid_t pid, const char *path, uint64_t start,
			 const struct recorded *recorded, uint64_t time_ns)
{
	struct sideband_event event = { .kind = SIDEBAND_MMAP,
					.pid = (uint32_t)pid,
					.tid = (uint32_t)pid,
					.time_ns = time_ns,
					.path = path,
					.start = recorded->start,
					.shared = recorded->shared,
					.length = PAGE,
					.protection = PROT_READ | PROT_EXEC };
	struct proc_map_list list;
	size_t i;

	assert_int_equal(proc_read_maps("/proc", pid, &list), 0);
	for (i = 0; i < list.count; i++) {
		if (list.items[i].start != start)
			continue;
		event.device = list.items[i].device;
		event.inode = list.items[i].inode;
	}
	proc_map_list_free(&list);
	assert_true(event.inode);
	fake_task_event(&event);
	if (recorded->executes)
		see_exec(pid, clock_now_ns());
	/* The path must live until the event is read. */
	events_catch_up(&world.core.events);
}

static void see_mapping(pid_t pid, const char *path, uint64_t start, uint64_t time_ns)
{
	const struct recorded recorded = { .start = start };

	see_recorded(pid, path, start, &recorded, time_ns);
}

/*
 * A file whose mapping has gone before it could be opened, and which has no name: it may have an allocator, and counts once, also
 * where the process goes on. It is probed when it is mapped again, or found to be mapped elsewhere.
 */
static void check_unmapped_file(bool is_mapped_again)
{
	const char *name = "/nonexistent/" FAKE_ALLOCATOR;
	struct recorded recorded = { 0 };
	struct process *process;
	struct child *child;
	uint64_t page, i;

	process = world_trace(&world, &child, false);
	world.core.late.start_ns = clock_now_ns();
	page = child_ask(child, CHILD_MAP, world.allocator);
	for (i = 1; i < 3; i++) {
		recorded.start = page + i * PAGE;
		see_recorded(child->pid, name, page, &recorded, clock_now_ns());
	}
	assert_int_equal(world_probes(), 0);
	assert_int_equal(world.core.late.missed, 1);
	assert_true(world_logged(&world, "/nonexistent/" FAKE_ALLOCATOR));
	assert_true(process_alive(process));
	assert_true(process->needs_scan);
	if (is_mapped_again)
		see_mapping(child->pid, name, page, clock_now_ns());
	else
		scan_process(&world.core.scan, process, clock_now_ns());
	assert_int_equal(world_probes(), 1);
	assert_int_equal(world.core.late.missed, 1);
}

static void test_unmapped_file(void **state)
{
	(void)state;
	check_unmapped_file(true);
}

static void test_unmapped_file_elsewhere(void **state)
{
	(void)state;
	check_unmapped_file(false);
}

/* A process executes another program before the record of its file is read. */
static void test_unmapped_file_of_program(void **state)
{
	struct recorded recorded = { .executes = true };
	struct child *child;
	uint64_t page;

	(void)state;
	world_trace(&world, &child, false);
	world.core.late.start_ns = clock_now_ns();
	page = child_ask(child, CHILD_MAP, world.allocator);
	recorded.start = page + PAGE;
	see_recorded(child->pid, "/nonexistent/" FAKE_ALLOCATOR, page, &recorded, clock_now_ns());
	assert_int_equal(world.core.late.missed, 1);
}

/* Code that a program writes itself is mapped so; no loader maps a file so, and the kernel takes no probes there. */
static void test_unmapped_shared_file(void **state)
{
	struct recorded recorded = { .shared = true };
	struct process *process;
	struct child *child;
	uint64_t page;

	(void)state;
	process = world_trace(&world, &child, false);
	world.core.late.start_ns = clock_now_ns();
	page = child_ask(child, CHILD_MAP, world.allocator);
	recorded.start = page + PAGE;
	see_recorded(child->pid, "/nonexistent/" FAKE_ALLOCATOR, page, &recorded, clock_now_ns());
	assert_int_equal(world.core.late.missed, 0);
	assert_false(process->needs_scan);
	assert_false(world_logged(&world, "/nonexistent/" FAKE_ALLOCATOR));
	recorded.shared = false;
	see_recorded(child->pid, "/nonexistent/" FAKE_ALLOCATOR, page, &recorded, clock_now_ns());
	assert_int_equal(world.core.late.missed, 1);
}

static void test_child(void **state)
{
	struct process *parent, *process;
	struct child *child;
	pid_t stranger;

	(void)state;
	parent = world_trace(&world, NULL, true);
	assert_int_equal(world_probes(), 1);
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	stranger = world_start(&world)->pid;
	see_fork(child->pid, parent->target.pid, clock_now_ns());
	/* Of a parent that nobody traces. */
	see_fork(stranger, getpid(), clock_now_ns());
	events_catch_up(&world.core.events);
	process = world_find(&world, child->pid);
	assert_non_null(process);
	assert_int_equal(process->target_id, 2);
	assert_int_equal(world_probes(), 2);
	assert_null(world_find(&world, stranger));
	assert_int_equal(world.core.follow.children_missed, 0);
	assert_false(events_are_unhandled(&world.core.events));
}

static void test_child_is_not_followed(void **state)
{
	struct process *parent;
	struct child *child;

	(void)state;
	world.core.follow.children = false;
	parent = world_trace(&world, NULL, true);
	child = world_start(&world);
	see_fork(child->pid, parent->target.pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_null(world_find(&world, child->pid));
	assert_int_equal(world.core.follow.children_missed, 0);
}

/* A child that ended before its record was read counts as missed, and its own child is followed all the same. */
static void test_grandchild_of_ended(void **state)
{
	struct child *between, *grandchild;
	struct process *parent;
	pid_t pid;

	(void)state;
	parent = world_trace(&world, NULL, false);
	between = world_start(&world);
	grandchild = world_start(&world);
	pid = between->pid;
	child_end(between);
	see_fork(pid, parent->target.pid, clock_now_ns());
	see_fork(grandchild->pid, pid, clock_now_ns());
	see_exit(pid, pid);
	events_catch_up(&world.core.events);
	assert_null(world_find(&world, pid));
	assert_non_null(world_find(&world, grandchild->pid));
	assert_int_equal(world.core.follow.children_missed, 1);
	/* The pid is free for a stranger, whose children are strangers. */
	assert_false(process_table_is_descendant(&world.core.processes, (uint32_t)pid));
}

/* A record of CPU 1 comes before an older one of CPU 0: children that were taken for a stranger's are in /proc. */
static void test_fork_after_that_of_its_child(void **state)
{
	struct child *between;
	uint64_t time_ns;
	pid_t grandchild;

	(void)state;
	between = world_start(&world);
	time_ns = clock_now_ns();
	grandchild = (pid_t)child_ask(between, CHILD_FORK, NULL);
	process_table_add_descendant(&world.core.processes, (uint32_t)getpid());
	see_fork(grandchild, between->pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_false(world.core.follow.children_unknown);
	see_fork(between->pid, getpid(), time_ns);
	events_catch_up(&world.core.events);
	assert_non_null(world_find(&world, between->pid));
	assert_null(world_find(&world, grandchild));
	assert_true(world.core.follow.children_unknown);
	follow_find_children(&world.core.follow);
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, grandchild));
}

/* A mapping of a child whose own record is in the same batch: its probes are there once, as are those of a repeated record. */
static void test_mapping_with_fork(void **state)
{
	struct process *parent, *process;
	struct child *child;
	uint64_t page;

	(void)state;
	parent = world_trace(&world, NULL, false);
	child = world_start(&world);
	page = child_ask(child, CHILD_MAP, world.allocator);
	see_fork(child->pid, parent->target.pid, clock_now_ns());
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	process = world_find(&world, child->pid);
	assert_non_null(process);
	assert_int_equal(world_probes(), 1);
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	assert_int_equal(world_probes(), 1);
	assert_false(events_are_unhandled(&world.core.events));
}

/* A file that is mapped later is probed, and the unwinder gets the mappings of the process before. */
static void test_mapping(void **state)
{
	struct process *process;
	struct child *child;
	uint64_t page, before;

	(void)state;
	process = world_trace(&world, &child, false);
	assert_int_equal(world_probes(), 0);
	page = child_ask(child, CHILD_MAP, world.allocator);
	before = fake_updated_count;
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	assert_int_equal(world_probes(), 1);
	assert_int_equal(fake_updated_count, before + 1);
	assert_int_equal(fake_updated[before], process->target_id);
}

static void test_lost(void **state)
{
	struct process *process, *other;

	(void)state;
	process = world_trace(&world, NULL, false);
	other = world_trace(&world, NULL, false);
	process_table_add_descendant(&world.core.processes, 4000000);
	process->exec_missed = true;
	process->exec_first_ns = clock_now_ns();
	see_lost(7);
	see_lost(2);
	events_catch_up(&world.core.events);
	assert_int_equal(world.core.events.records_lost, 9);
	assert_true(process->needs_scan && other->needs_scan);
	assert_true(world.core.follow.children_unknown);
	assert_int_equal(world.core.follow.select_ns, SELECT_NOW);
	assert_true(events_are_unhandled(&world.core.events));
	/* Which of the pids are free by now is unknown. */
	assert_false(process_table_is_descendant(&world.core.processes, 4000000));
	assert_true(
		process_table_is_descendant(&world.core.processes, (uint32_t)process->target.pid));
	/* The exec that was waited for has no record any more. */
	assert_false(process->exec_missed);
	assert_int_equal(process->target.exec_ns, process->exec_first_ns);
	assert_true(world.core.ended.lost_records && world.core.ended.needs_reap);
}

/* Lost records start no search for children where children are not followed. */
static void test_lost_without_children(void **state)
{
	(void)state;
	world.core.follow.children = false;
	world_trace(&world, NULL, false);
	see_lost(1);
	events_catch_up(&world.core.events);
	assert_false(world.core.follow.children_unknown);
}

/* The pid of a traced process is forked again: the first one has ended, whatever its pidfd has shown until now. */
static void test_pid_used_again(void **state)
{
	struct process *process, *second;
	struct child *child;
	uint32_t pid;

	(void)state;
	process = world_trace(&world, &child, true);
	pid = (uint32_t)child->pid;
	/* Its own fork, read late. */
	see_fork(child->pid, getpid(), process->opened_ns - 1);
	events_catch_up(&world.core.events);
	assert_ptr_equal(world_find(&world, child->pid), process);
	/* The real process has the pid, as a child of another one that is traced. */
	second = world_trace(&world, NULL, false);
	see_fork(child->pid, second->target.pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_true(process->is_replaced);
	second = process_table_find(&world.core.processes, pid);
	assert_non_null(second);
	assert_ptr_not_equal(second, process);
	assert_int_equal(second->target_id, 3);
	assert_int_equal(world_probes(), 2);
}

static void test_exec(void **state)
{
	struct process *process;
	struct child *child;
	uint64_t now;

	(void)state;
	world.core.ended.keeps = true;
	process = world_trace(&world, &child, true);
	process->warned_unprobed = process->frees_unseen = process->exec_missed = true;
	now = clock_now_ns();
	see_exec(child->pid, now);
	events_catch_up(&world.core.events);
	assert_int_equal(process->target.exec_ns, now);
	assert_string_equal(process->target.comm, "another");
	assert_int_equal(address_space_count(process->space), 0);
	assert_int_equal(world.core.ended.program_count, 1);
	assert_int_equal(world.core.ended.programs[0].until_ns, now);
	assert_string_not_equal(world.core.ended.programs[0].target->comm, "another");
	assert_true(world.core.ended.needs_reap);
	assert_int_equal(fake_interps_forgotten, 1);
	assert_false(process->warned_unprobed || process->frees_unseen || process->exec_missed);
	/* The links go on: the kernel ties them to the first thread, which has executed the program. */
	assert_int_equal(world_probes(), 1);
	assert_int_equal(world.core.events.late_execs, 0);
}

/* The record of an exec that was over when the process was found: its mappings are of the new program already. */
static void test_exec_before_it_was_found(void **state)
{
	struct process *process;
	struct child *child;
	size_t mapped;

	(void)state;
	process = world_trace(&world, &child, true);
	mapped = address_space_count(process->space);
	see_exec(child->pid, process->opened_ns - 1);
	events_catch_up(&world.core.events);
	assert_int_equal(address_space_count(process->space), mapped);
	assert_int_equal(process->target.exec_ns, 0);
	assert_false(world.core.ended.needs_reap);
}

/* Another thread than the first executes a program: the first one's end takes the probes along. */
static void test_exec_by_another_thread(void **state)
{
	struct process *process;
	struct child *child;
	uint64_t page;

	(void)state;
	process = world_trace(&world, &child, false);
	page = child_ask(child, CHILD_MAP, world.allocator);
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	assert_int_equal(world_probes(), 1);
	see_exit(child->pid, child->pid);
	events_catch_up(&world.core.events);
	assert_true(process->first_thread_ended);
	assert_int_equal(world_probes(), 1);
	see_exec(child->pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_int_equal(world_probes(), 0);
	assert_int_equal(world.core.events.late_execs, 1);
	assert_false(process->first_thread_ended);
	/* The new program maps the same file. */
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	assert_int_equal(world_probes(), 1);
}

/* Probes of files, for all processes, have nothing to do with threads; the target_id is the task's, and is set again. */
static void test_exec_machine_wide(void **state)
{
	struct process *process;
	struct child *child;
	uint32_t target_id;

	(void)state;
	world.core.probes.machine_wide = true;
	process = world_trace(&world, &child, true);
	maps_remove(&fake_maps_all, MAPS_TARGET_IDS, &process->target.pidfd);
	see_exit(child->pid, child->pid);
	see_exec(child->pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_int_equal(world_probes(), 1);
	assert_int_equal(world.core.events.late_execs, 0);
	assert_int_equal(
		maps_get(&fake_maps_all, MAPS_TARGET_IDS, &process->target.pidfd, &target_id), 0);
	assert_int_equal(target_id, process->target_id);
}

/* No return probe is taken where the program at its entry may not decline it: before anything is known of a program, or ever. */
static void test_returns(void **state)
{
	static const struct {
		enum backend backend;
		bool machine_wide, several, avoids, never;
	} cases[] = {
		{ BACKEND_KERNEL_SESSION, false, false, false, false },
		{ BACKEND_KERNEL_SESSION, false, true, true, false },
		{ BACKEND_KERNEL_SESSION, true, true, false, false },
		{ BACKEND_KERNEL_MULTI, false, false, true, false },
		{ BACKEND_KERNEL_MULTI, true, false, true, true },
	};
	const struct plan_options *options = &world.core.files.plan.options;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world_open(&world);
		world.core.probes.how.backend = cases[i].backend;
		world.core.probes.machine_wide = cases[i].machine_wide;
		world.core.processes.count = cases[i].several ? 2 : 1;
		returns_note(&world.core.returns);
		world.core.processes.count = 0;
		assert_int_equal(options->avoid_switching, cases[i].avoids);
		assert_int_equal(options->no_return_probes, cases[i].never);
		world_close(&world);
	}
}

/* A stranger's exec is of interest where a selector may mean its new program only. */
static void test_exec_of_stranger(void **state)
{
	struct child *child;

	(void)state;
	world_trace(&world, NULL, false);
	child = world_start(&world);
	see_exec(child->pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_null(world_find(&world, child->pid));
	/* One that is a descendant, and was missed before. */
	process_table_add_descendant(&world.core.processes, (uint32_t)child->pid);
	see_exec(child->pid, clock_now_ns());
	events_catch_up(&world.core.events);
	assert_non_null(world_find(&world, child->pid));
}

static bool has_thread(enum maps_id map, uint32_t thread)
{
	return fake_map_has(map, &thread);
}

static void test_exit_of_thread(void **state)
{
	static const enum maps_id by_thread[] = { MAPS_THREADS_BY_ID, MAPS_SHAPES,
						  MAPS_INTERP_WALKS_BY_ID };
	uint32_t thread, value = 1;
	struct process *process;
	size_t i;

	(void)state;
	process = world_trace(&world, NULL, false);
	thread = (uint32_t)process->target.pid + 1;
	for (i = 0; i < 3; i++)
		maps_set(&fake_maps_all, by_thread[i], &thread, &value);
	/* Of a process that is not traced: it may have the same number in another namespace. */
	see_exit(getpid(), (pid_t)thread);
	events_catch_up(&world.core.events);
	for (i = 0; i < 3; i++)
		assert_true(has_thread(by_thread[i], thread));
	see_exit(process->target.pid, (pid_t)thread);
	events_catch_up(&world.core.events);
	for (i = 0; i < 3; i++)
		assert_false(has_thread(by_thread[i], thread));
	assert_false(process->first_thread_ended);
	/* Maps that the loaded programs do without are not touched: the fake ends the test. */
	fake_maps[MAPS_SHAPES].missing = fake_maps[MAPS_INTERP_WALKS_BY_ID].missing = true;
	see_exit(process->target.pid, (pid_t)thread);
	events_catch_up(&world.core.events);
}

static void put_site(uint64_t key, const struct process *process, uint64_t pc, uint64_t first_ns)
{
	const struct stack_record stack = { .count = 1, .end = UNWIND_END_ROOT, .pcs = { pc } };
	const struct site site = { .alloc_bytes = 10,
				   .alloc_objects = 1,
				   .stack = key,
				   .target_id = process->target_id,
				   .first_ns = first_ns };

	maps_set(&fake_maps_all, MAPS_SITES, &key, &site);
	maps_set(&fake_maps_all, MAPS_STACKS, &key, &stack);
}

static void announce(uint64_t key)
{
	const struct event_site event = { .kind = EVENT_SITE, .site = key };

	fake_ring_record(&event, sizeof(event));
}

/* A site in a file whose mapping is still unread: task events are read first, and its frame is resolved. */
static void test_site(void **state)
{
	struct process *process;
	struct known_site *site;
	struct child *child;
	uint64_t page;

	(void)state;
	process = world_trace(&world, &child, false);
	events_catch_up(&world.core.events);
	page = child_ask(child, CHILD_MAP, world.allocator);
	put_site(5, process, page + 16, clock_now_ns());
	announce(5);
	see_fork(4000000, child->pid, clock_now_ns());
	events_drain_ring(&world.core.events);
	site = sites_get(&world.core.sites, 5);
	assert_non_null(site);
	assert_int_equal(site->stack->frames[0].offset, 16);
	assert_string_equal(module_list_get(&world.modules, site->stack->frames[0].module)->path,
			    world.allocator);
	/* What was read on the way is handled. */
	assert_int_equal(world.core.follow.children_missed, 1);
	assert_false(events_are_unhandled(&world.core.events));
}

/* Records without what they announce, of nobody, and cut ones are left out. */
static void test_site_is_missing(void **state)
{
	const struct process nobody = { .target_id = 9 };
	const struct event_site event = { .kind = EVENT_SITE, .site = 7 };
	struct process *process;

	(void)state;
	process = world_trace(&world, NULL, false);
	announce(5);
	put_site(6, &nobody, 16, 1);
	announce(6);
	put_site(7, process, 16, 1);
	fake_ring_record(&event, sizeof(event) - 1);
	announce(0);
	events_drain_ring(&world.core.events);
	assert_null(sites_get(&world.core.sites, 5));
	assert_null(sites_get(&world.core.sites, 6));
	assert_null(sites_get(&world.core.sites, 7));
	/* The record comes later. */
	put_site(5, process, 16, 1);
	announce(5);
	events_drain_ring(&world.core.events);
	assert_non_null(sites_get(&world.core.sites, 5));
}

static void map_call(const struct process *process, uint64_t site, uint64_t result)
{
	const struct event_mapping event = { .kind = EVENT_MAPPING,
					     .target_id = process->target_id,
					     .thread = 1,
					     .op = CALL_MMAP,
					     .phase = MAPPING_RETURN,
					     .new_length = 5000,
					     .result = result,
					     .site = site,
					     .time_ns = clock_now_ns() };

	fake_ring_record(&event, sizeof(event));
	events_drain_ring(&world.core.events);
}

static uint64_t mapped_bytes(uint64_t site)
{
	struct site_stats stats = { 0 };

	mapping_set_site(world.mappings, site, clock_now_ns(), 0, &stats);
	return site_stats_inuse_bytes(&stats);
}

/* Mappings of the program count, those of the C library's allocator do not; failed calls are no mappings. */
static void test_mapping_call(void **state)
{
	struct process *process;
	struct child *child;
	uint64_t page;

	(void)state;
	process = world_trace(&world, &child, false);
	page = child_ask(child, CHILD_MAP, world.allocator);
	see_mapping(child->pid, world.allocator, page, clock_now_ns());
	/* Its functions malloc and free are 4 KB apart, behind what is mapped. */
	assert_int_equal(world.core.files.items[world.core.files.count - 1].inner_low, FAKE_MALLOC);
	world.core.files.items[world.core.files.count - 1].inner_low = 256;
	world.core.files.items[world.core.files.count - 1].inner_high = 512;
	put_site(5, process, page + 255, 1);
	put_site(6, process, page + 256, 1);
	put_site(7, process, page + 512, 1);
	map_call(process, 5, 0x10000000);
	map_call(process, 6, 0x20000000);
	map_call(process, 7, 0x30000000);
	assert_int_equal(mapped_bytes(5), 5000);
	assert_int_equal(mapped_bytes(6), 0);
	assert_int_equal(mapped_bytes(7), 5000);
	map_call(process, 5, (uint64_t)-1);
	assert_int_equal(mapped_bytes(5), 5000);
	/* The site's own record cannot be read: the mapping counts. */
	map_call(process, 8, 0x40000000);
	assert_int_equal(mapped_bytes(8), 5000);
	assert_int_equal(mapping_set_count(world.mappings), 3);
}

static void test_cover(void **state)
{
	uint64_t before;

	(void)state;
	assert_false(events_cover(&world.core.events, 1));
	before = clock_now_ns();
	events_catch_up(&world.core.events);
	assert_true(events_cover(&world.core.events, before - 1));
	assert_false(events_cover(&world.core.events, clock_now_ns()));
}

/* Where the kernel refuses its records, /proc is read, once a second. */
static void test_without_task_events(void **state)
{
	struct error error = { 0 };
	struct process *process;
	uint64_t begin;

	(void)state;
	fake_sideband_error = -EPERM;
	begin = clock_now_ns();
	assert_int_equal(events_open(&world.core.events, NULL, &error), 0);
	assert_null(world.core.events.sideband);
	assert_false(world.core.ended.has_records);
	assert_true(world_logged(&world, "no records of new processes and libraries"));
	assert_true(world.core.events.look_ns >= begin + SECOND_NS);
	process = world_trace(&world, NULL, false);
	events_catch_up(&world.core.events);
	world.core.events.look_ns = UINT64_MAX;
	events_look(&world.core.events);
	assert_false(process->needs_scan);
	begin = world.core.events.look_ns = clock_now_ns();
	events_look(&world.core.events);
	assert_true(process->needs_scan && world.core.follow.children_unknown);
	assert_int_equal(world.core.events.records_lost, 0);
	assert_true(world.core.events.look_ns >= begin + SECOND_NS);
}

/* With task events /proc is not read again. */
static void test_no_look(void **state)
{
	struct process *process;

	(void)state;
	assert_true(world.core.ended.has_records);
	process = world_trace(&world, NULL, false);
	world.core.events.look_ns = 1;
	events_look(&world.core.events);
	assert_false(process->needs_scan);
}

/* Does a look read /proc again? */
static bool look_scans(struct process *process)
{
	process->needs_scan = false;
	world.core.events.look_ns = 1;
	events_look(&world.core.events);
	return process->needs_scan;
}

/* What happened on a CPU that came online was not reported. If it cannot be listened on, /proc is polled from then on. */
static void test_new_cpu(void **state)
{
	struct process *process = world_trace(&world, NULL, false);

	(void)state;
	assert_false(look_scans(process));
	fake_cpus_changed = 1;
	assert_true(look_scans(process));
	assert_false(world_logged(&world, "a CPU that came online"));
	fake_cpus_changed = -EACCES;
	assert_true(look_scans(process));
	assert_true(
		world_logged(&world, "a CPU that came online (Permission denied): polling /proc"));
	assert_true(look_scans(process));
	assert_null(world.core.events.sideband);
	assert_false(world.core.ended.has_records);
	assert_int_equal(world.core.events.records_lost, 0);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, timeout_ms) == 1;
}

/* One descriptor for all that wakes a session: task events, the end of a process, the time. */
static void test_wake(void **state)
{
	struct process *process, *ended[1];
	struct child *child;
	uint64_t drained;

	(void)state;
	process = world_trace(&world, &child, false);
	assert_false(is_readable(world.core.events.epoll, 0));
	see_exit(child->pid, child->pid + 1);
	assert_true(is_readable(world.core.events.epoll, 0));
	assert_int_equal(read(fake_sideband.fd, &drained, sizeof(drained)), sizeof(drained));
	events_catch_up(&world.core.events);
	assert_false(is_readable(world.core.events.epoll, 0));
	events_set_timer(&world.core.events, 1);
	assert_true(is_readable(world.core.events.epoll, -1));
	events_set_timer(&world.core.events, 0);
	assert_false(is_readable(world.core.events.epoll, 0));
	child_end(child);
	assert_true(is_readable(world.core.events.epoll, -1));
	assert_int_equal(process_table_find_ended(&world.core.processes, ended, 1), 1);
	assert_ptr_equal(ended[0], process);
}

static void test_ring_cannot_be_opened(void **state)
{
	struct error error = { 0 };

	(void)state;
	fake_ring_error = -ENOMEM;
	assert_int_equal(events_open(&world.core.events, NULL, &error), -ENOMEM);
	assert_non_null(strstr(error.text, "cannot open the ring buffer"));
	assert_int_equal(error.kind, ERROR_PERMISSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST_EVENTS(test_unmapped_file),
		WORLD_TEST_EVENTS(test_unmapped_file_elsewhere),
		WORLD_TEST_EVENTS(test_unmapped_file_of_program),
		WORLD_TEST_EVENTS(test_unmapped_shared_file),
		WORLD_TEST_EVENTS(test_child),
		WORLD_TEST_EVENTS(test_child_is_not_followed),
		WORLD_TEST_EVENTS(test_grandchild_of_ended),
		WORLD_TEST_EVENTS(test_fork_after_that_of_its_child),
		WORLD_TEST_EVENTS(test_mapping_with_fork),
		WORLD_TEST_EVENTS(test_mapping),
		WORLD_TEST_EVENTS(test_lost),
		WORLD_TEST_EVENTS(test_lost_without_children),
		WORLD_TEST_EVENTS(test_pid_used_again),
		WORLD_TEST_EVENTS(test_exec),
		WORLD_TEST_EVENTS(test_exec_before_it_was_found),
		WORLD_TEST_EVENTS(test_exec_by_another_thread),
		WORLD_TEST_EVENTS(test_exec_machine_wide),
		cmocka_unit_test(test_returns),
		WORLD_TEST_EVENTS(test_exec_of_stranger),
		WORLD_TEST_EVENTS(test_exit_of_thread),
		WORLD_TEST_EVENTS(test_site),
		WORLD_TEST_EVENTS(test_site_is_missing),
		WORLD_TEST_EVENTS(test_mapping_call),
		WORLD_TEST_EVENTS(test_cover),
		WORLD_TEST(test_without_task_events),
		WORLD_TEST_EVENTS(test_no_look),
		WORLD_TEST_EVENTS(test_new_cpu),
		WORLD_TEST_EVENTS(test_wake),
		WORLD_TEST(test_ring_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
