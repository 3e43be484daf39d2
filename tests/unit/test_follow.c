/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes are traced, and what becomes of them at their end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/clock.h"
#include "system/end_signals.h"
#include "system/proc.h"
#include "unit/session_world.h"

static struct process *open_process(pid_t pid)
{
	struct error error = { 0 };
	struct process *process;

	assert_int_equal(process_open(pid, &process, &error), 0);
	return process;
}

static void add_new(pid_t pid, pid_t parent, bool is_descendant, uint64_t time_ns)
{
	const struct new_process created = { .pid = (uint32_t)pid,
					     .parent = (uint32_t)parent,
					     .is_descendant = is_descendant,
					     .time_ns = time_ns };

	follow_add_new(&world.core.follow, &created);
}

/* A name that no other process has, not those of another run or of the test before either, which may still be ending. */
static const char *own_name(void)
{
	static char name[COMM_MAX];
	static unsigned int names;

	snprintf(name, sizeof(name), "f%d-%u", getpid(), names++);
	return name;
}

/* A process with this name that init has for a child: a selector never means a test's own children. */
static pid_t start_orphan(const char *name)
{
	struct child *parent = world_start(&world);
	siginfo_t ended;
	pid_t pid;

	assert_int_equal(child_ask(parent, CHILD_RENAME, name), 0);
	pid = (pid_t)child_ask(parent, CHILD_FORK_AND_EXIT, NULL);
	assert_int_equal(waitid(P_PID, (id_t)parent->pid, &ended, WEXITED | WNOWAIT), 0);
	return pid;
}

static void test_add(void **state)
{
	struct process *process;
	uint32_t target_id;

	(void)state;
	world.core.probes.machine_wide = true;
	process = world_trace(&world, NULL, true);
	assert_int_equal(world_probes(), 1);
	assert_true(process->probed);
	assert_int_equal(world.core.processes.roots_running, 1);
	assert_int_equal(
		maps_get(&fake_maps_all, MAPS_TARGET_IDS, &process->target.pidfd, &target_id), 0);
	assert_int_equal(target_id, 1);
	assert_int_equal(fake_updated[0], 1);
	/* One process may have all descriptors, several share them. */
	assert_false(world.modules.is_shared);
	world_trace(&world, NULL, true);
	assert_true(world.modules.is_shared);
	/* Files are probed for all at once. */
	assert_int_equal(world_probes(), 1);
}

/* A target_id has 16 bits. */
/* Windows attach the probes, and what is seen in windows only is not remembered. */
static void test_in_windows(void **state)
{
	struct process *process;
	size_t asked = fake_points_asked;

	(void)state;
	scan_probe_interpreters(&world.core.scan);
	assert_int_equal(fake_points_asked, asked + 1);
	assert_false(world_trace(&world, NULL, true)->frees_unseen);
	assert_int_equal(world_probes(), 1);
	world.core.scan.in_windows = true;
	world.core.probes.divided = true;
	world.core.probes.parts = 0;
	process = world_trace(&world, NULL, true);
	assert_true(process->probed && process->frees_unseen);
	assert_int_equal(world_probes(), 1);
	scan_probe_interpreters(&world.core.scan);
	assert_int_equal(fake_points_asked, asked + 1);
}

static void test_too_many(void **state)
{
	struct error error = { 0 };
	struct child *child;

	(void)state;
	child = world_start(&world);
	world.core.processes.count = PROCESS_TABLE_MAX;
	assert_int_equal(follow_add(&world.core.follow, open_process(child->pid), NULL, &error),
			 -EMFILE);
	assert_string_equal(error.text, "more than 65534 processes");
	assert_false(follow_process(&world.core.follow, open_process(child->pid), 1, false));
	world.core.processes.count = 0;
}

static void test_ended_meanwhile(void **state)
{
	struct error error = { 0 };
	struct process *process;
	struct child *child;

	(void)state;
	child = world_start(&world);
	process = open_process(child->pid);
	child_end(child);
	assert_int_equal(follow_add(&world.core.follow, process, NULL, &error), -ESRCH);
	assert_int_equal(error.kind, ERROR_TARGET);
	/* No message for children that come and go. */
	child = world_start(&world);
	process = open_process(child->pid);
	child_end(child);
	assert_false(follow_process(&world.core.follow, process, 1, false));
	assert_false(world_logged(&world, "is not traced"));
}

/* Its next call could be its end. */
static void test_seccomp(void **state)
{
	struct error error = { 0 };
	struct child *child;

	(void)state;
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	assert_int_equal(child_ask(child, CHILD_FILTER, NULL), 0);
	assert_int_equal(follow_add(&world.core.follow, open_process(child->pid), NULL, &error),
			 -ENOTSUP);
	assert_non_null(strstr(error.text, "has a seccomp filter"));
	assert_int_equal(fake_attach_calls, 0);
	assert_false(follow_process(&world.core.follow, open_process(child->pid), 1, false));
	assert_int_equal(fake_attach_calls, 0);
	assert_true(world_logged(&world, "is not traced"));
	world.core.filters.force = true;
	assert_true(follow_process(&world.core.follow, open_process(child->pid), 1, false));
	assert_int_equal(world_probes(), 1);
}

/* The pid of the record is another process's by now, which began later. */
static void test_new_process_of_pid_used_again(void **state)
{
	struct child *child;
	uint64_t now;

	(void)state;
	child = world_start(&world);
	now = clock_now_ns();
	add_new(child->pid, getpid(), true, now - SECOND_NS);
	follow_new_processes(&world.core.follow);
	assert_null(world_find(&world, child->pid));
	/* It is no child that was missed either: the one of the record has ended, and was counted by its own. */
	assert_int_equal(world.core.follow.children_missed, 0);
	assert_int_equal(world.core.follow.new_count, 0);
	add_new(child->pid, getpid(), true, now);
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, child->pid));
}

/* An exec of one that was missed: when it began is another record's. */
static void test_new_process_by_exec(void **state)
{
	struct child *child;
	uint64_t time_ns;

	(void)state;
	child = world_start(&world);
	time_ns = clock_now_ns() - SECOND_NS;
	add_new(child->pid, 0, true, time_ns);
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, child->pid));
	assert_int_equal(world_find(&world, child->pid)->target.exec_ns, time_ns);
}

/* The end was requested: its report does not wait for probes. What lacks them is counted, and what has them is not. */
static void test_end_is_pending(void **state)
{
	sigset_t end, before;
	struct child *child;
	int number;

	(void)state;
	world_trace(&world, NULL, true);
	world.core.late.start_ns = clock_now_ns();
	sigemptyset(&end);
	sigaddset(&end, end_signals_number());
	sigprocmask(SIG_BLOCK, &end, &before);
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	raise(end_signals_number());
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(sigwait(&end, &number), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_non_null(world_find(&world, child->pid));
	assert_int_equal(world_probes(), 1);
	assert_int_equal(world.core.probes.unprobed, 1);
}

/* A child that is probed after it began is late; one in which nothing is probed is not. */
static void test_late_child(void **state)
{
	struct child *child;

	(void)state;
	child = world_start(&world);
	world.core.late.start_ns = clock_now_ns();
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, child->pid));
	assert_int_equal(world.core.late.children, 0);
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.late.children, 1);
}

/* A child of vfork runs in its parent's memory, and has no probes of its own. */
static void test_sharer(void **state)
{
	struct process *parent, *process;
	struct child *child;
	pid_t sharer;

	(void)state;
	parent = world_trace(&world, &child, true);
	world.core.late.start_ns = clock_now_ns();
	sharer = (pid_t)child_ask(child, CHILD_SHARE, NULL);
	process = open_process(sharer);
	assert_true(follow_shares_memory(process, (uint32_t)parent->target.pid));
	assert_false(follow_shares_memory(process, (uint32_t)getpid()));
	assert_false(follow_shares_memory(process, 0));
	process_free(process);
	add_new(sharer, parent->target.pid, true, clock_now_ns());
	add_new(sharer, parent->target.pid, true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_null(world_find(&world, sharer));
	assert_int_equal(world_probes(), 1);
	/* Once. */
	assert_int_equal(world.core.late.shared, 1);
	assert_int_equal(world.core.follow.children_missed, 0);
}

/* As many links as the kernel is yet to close. */
static void close_later(size_t count)
{
	struct attachment links = { 0 };

	while (count--) {
		fake_links[fake_link_count] = (struct fake_link){ .offset = 1 };
		fake_keep(&links.others, (int)fake_link_count++);
	}
	detach_queue_add(world.core.probes.detach_queue, &links);
}

/* While many probes wait to be taken out, no more are put in, but for what was named. */
static void test_flood(void **state)
{
	struct child *child;

	(void)state;
	probe_set_start_detach_queue(&world.core.probes);
	close_later(FOLLOW_PENDING_MAX + 1);
	child = world_start(&world);
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_null(world_find(&world, child->pid));
	assert_int_equal(world.core.follow.children_missed, 1);
	detach_queue_wait(world.core.probes.detach_queue);
	close_later(FOLLOW_PENDING_MAX);
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, child->pid));
	assert_int_equal(world.core.follow.children_missed, 1);
}

/* A child that is missed at its fork is missed once, whatever it executes; the next one with its pid is another one. */
static void test_missed_once(void **state)
{
	struct child *child;

	(void)state;
	probe_set_start_detach_queue(&world.core.probes);
	close_later(FOLLOW_PENDING_MAX + 1);
	child = world_start(&world);
	process_table_add_descendant(&world.core.processes, (uint32_t)child->pid);
	add_new(child->pid, getpid(), true, clock_now_ns());
	add_new(child->pid, 0, true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.follow.children_missed, 1);
	process_table_remove_descendant(&world.core.processes, (uint32_t)child->pid);
	process_table_add_descendant(&world.core.processes, (uint32_t)child->pid);
	add_new(child->pid, getpid(), true, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.follow.children_missed, 2);
}

/* The processes that were selected are those that the user wants, however many others come and go. */
static void test_flood_while_selecting(void **state)
{
	struct selector selector = { .kind = SELECT_SOME, .name = own_name() };
	pid_t pid;

	(void)state;
	world.core.follow.selector = &selector;
	world.core.follow.select_once = true;
	probe_set_start_detach_queue(&world.core.probes);
	close_later(1000);
	pid = start_orphan(selector.name);
	add_new(pid, 1, false, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, pid));
}

/* Records were lost: children are found in /proc, and theirs, but not those from before their parent was traced. */
static void test_find_children(void **state)
{
	struct process *parent;
	struct child *child;
	pid_t before, after;

	(void)state;
	child = world_start(&world);
	before = (pid_t)child_ask(child, CHILD_FORK, NULL);
	parent = open_process(child->pid);
	assert_int_equal(follow_add(&world.core.follow, parent, NULL, &(struct error){ 0 }), 0);
	after = (pid_t)child_ask(child, CHILD_FORK, NULL);
	/* Times in /proc are in ticks: as if the process had been found a second later, and then a second sooner. */
	parent->follow_ns += SECOND_NS;
	world.core.follow.children_unknown = true;
	follow_find_children(&world.core.follow);
	assert_false(world.core.follow.children_unknown);
	assert_int_equal(world.core.follow.new_count, 0);
	parent->follow_ns -= 2 * SECOND_NS;
	follow_find_children(&world.core.follow);
	assert_int_equal(world.core.follow.new_count, 2);
	/* They are known now. */
	follow_find_children(&world.core.follow);
	assert_int_equal(world.core.follow.new_count, 2);
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, before));
	assert_non_null(world_find(&world, after));
	assert_int_equal(world.core.follow.children_missed, 0);
}

/* The test is a descendant, and is not traced: children are found through those that are not. */
static void test_find_grandchildren(void **state)
{
	struct child *child;
	pid_t grandchild;

	(void)state;
	child = world_start(&world);
	grandchild = (pid_t)child_ask(child, CHILD_FORK, NULL);
	process_table_add_descendant(&world.core.processes, (uint32_t)getpid());
	follow_find_children(&world.core.follow);
	assert_int_equal(world.core.follow.new_count, 2);
	follow_new_processes(&world.core.follow);
	assert_non_null(world_find(&world, child->pid));
	assert_non_null(world_find(&world, grandchild));
}

/* With a process its descendants, which ran before; tracing goes on until the last of them has ended. */
static void test_tree(void **state)
{
	struct process *process, *below;
	struct child *child;
	pid_t grandchild, sharer;

	(void)state;
	world.core.follow.tree = world.core.follow.children = true;
	process = world_trace(&world, &child, true);
	grandchild = (pid_t)child_ask(child, CHILD_FORK, NULL);
	sharer = (pid_t)child_ask(child, CHILD_SHARE, NULL);
	follow_descendants(&world.core.follow);
	below = world_find(&world, grandchild);
	assert_non_null(below);
	assert_false(process_table_slot(&world.core.processes, below)->root);
	/* It had run before the attach. */
	assert_int_equal(below->target.exec_ns, 0);
	assert_null(below->target.late);
	/* What it does counts for its parent; one day it may execute a program. */
	assert_null(world_find(&world, sharer));
	assert_true(process_table_is_descendant(&world.core.processes, (uint32_t)sharer));
	follow_descendants(&world.core.follow);
	assert_int_equal(world.core.processes.count, 2);
	process_table_end(&world.core.processes, process);
	assert_false(follow_is_over(&world.core.follow));
	follow_end(&world.core.follow, &below, 1);
	assert_true(follow_is_over(&world.core.follow));
	/* The last report shows what it held. */
	assert_false(below->to_reap);
}

static void test_select(void **state)
{
	struct selector selector = { .kind = SELECT_SOME, .name = own_name() };
	struct process *process;
	struct child *own;
	uint64_t begin;
	pid_t pid;

	(void)state;
	assert_false(follow_selects(&world.core.follow));
	world.core.follow.selector = &selector;
	assert_true(follow_selects(&world.core.follow));
	assert_false(follow_is_over(&world.core.follow));
	pid = start_orphan(selector.name);
	own = world_start(&world);
	child_ask(own, CHILD_RENAME, selector.name);
	begin = clock_now_ns();
	follow_select(&world.core.follow);
	process = world_find(&world, pid);
	assert_non_null(process);
	assert_false(process_table_slot(&world.core.processes, process)->root);
	assert_true(world.core.follow.has_matched);
	assert_true(world.core.follow.has_selected);
	/* Never the test's own child. */
	assert_null(world_find(&world, own->pid));
	assert_int_equal(world.core.processes.count, 1);
	/* Again in a second, and no sooner. */
	assert_true(world.core.follow.select_ns >= begin + SECOND_NS);
	process_table_end(&world.core.processes, process);
	world.core.follow.select_ns = UINT64_MAX;
	follow_select_due(&world.core.follow);
	assert_int_equal(world.core.processes.count, 1);
	world.core.follow.select_ns = SELECT_NOW;
	follow_select_due(&world.core.follow);
	assert_int_equal(world.core.processes.count, 2);
	assert_false(follow_is_over(&world.core.follow));
}

/* What the selector finds first is all, and its end the end of tracing. */
static void test_select_once(void **state)
{
	struct selector selector = { .kind = SELECT_SOME, .name = own_name() };
	struct process *process;
	pid_t pid;

	(void)state;
	world.core.follow.selector = &selector;
	world.core.follow.select_once = true;
	follow_select(&world.core.follow);
	assert_false(world.core.follow.has_matched);
	assert_false(world.core.follow.has_selected);
	assert_false(follow_is_over(&world.core.follow));
	pid = start_orphan(selector.name);
	/* It comes by its record. */
	add_new(pid, 1, false, clock_now_ns());
	follow_new_processes(&world.core.follow);
	process = world_find(&world, pid);
	assert_non_null(process);
	assert_true(process_table_slot(&world.core.processes, process)->root);
	assert_false(follow_selects(&world.core.follow));
	assert_false(follow_is_over(&world.core.follow));
	process_table_end(&world.core.processes, process);
	assert_true(follow_is_over(&world.core.follow));
}

/* With all processes selected, each new one that cannot be traced is missed; an exec is no new one. */
static void test_missed_of_all(void **state)
{
	struct selector selector = { .kind = SELECT_SOME, .name = "nobody" };
	struct child *child;
	pid_t pid;

	(void)state;
	world.core.follow.selector = &selector;
	child = world_start(&world);
	pid = child->pid;
	child_end(child);
	add_new(pid, getpid(), false, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.follow.children_missed, 0);
	selector.kind = SELECT_ALL;
	add_new(pid, 0, false, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.follow.children_missed, 0);
	add_new(pid, getpid(), false, clock_now_ns());
	follow_new_processes(&world.core.follow);
	assert_int_equal(world.core.follow.children_missed, 1);
}

/* The last of those that were named is reported with what it held; others leave the totals. */
static void test_end(void **state)
{
	struct process *root, *last, *child;

	(void)state;
	world.core.ended.keeps = true;
	root = world_trace(&world, NULL, true);
	last = world_trace(&world, NULL, true);
	world_start(&world);
	assert_true(
		follow_process(&world.core.follow, open_process(world.children[2].pid), 5, false));
	child = world_find(&world, world.children[2].pid);
	assert_int_equal(world_probes(), 2);
	follow_end(&world.core.follow, &child, 1);
	assert_true(child->target.exited && child->to_reap);
	assert_int_equal(fake_unwind_ended, child->target_id);
	assert_int_equal(fake_interps_forgotten, 1);
	assert_int_equal(world.core.ended.program_count, 1);
	assert_true(world.core.ended.needs_reap);
	world.core.ended.needs_reap = false;
	follow_end(&world.core.follow, &root, 1);
	assert_true(root->to_reap && world.core.ended.needs_reap);
	/* Closing links takes the kernel long: it is done beside everything else. */
	assert_int_equal(world_probes(), 2);
	detach_queue_wait(world.core.probes.detach_queue);
	assert_int_equal(world_probes(), 1);
	assert_false(follow_is_over(&world.core.follow));
	follow_end(&world.core.follow, &last, 1);
	assert_true(follow_is_over(&world.core.follow));
	assert_true(last->target.exited);
	assert_false(last->to_reap);
	assert_int_equal(world.core.ended.program_count, 2);
	detach_queue_wait(world.core.probes.detach_queue);
	assert_int_equal(world_probes(), 0);
}

/* All end in one turn: those that were named are all of the last report, and what they had started is not. */
static void test_end_together(void **state)
{
	struct process *ended[3];

	(void)state;
	ended[0] = world_trace(&world, NULL, false);
	ended[1] = world_trace(&world, NULL, false);
	world_start(&world);
	assert_true(
		follow_process(&world.core.follow, open_process(world.children[2].pid), 5, false));
	ended[2] = world_find(&world, world.children[2].pid);
	follow_end(&world.core.follow, ended, 3);
	assert_true(follow_is_over(&world.core.follow));
	assert_false(ended[0]->to_reap || ended[1]->to_reap);
	assert_true(ended[2]->to_reap);
}

/* The slot of an ended process goes to another one when nothing of it is left, and nothing refers to it then. */
static void test_release(void **state)
{
	struct process *ended, *next;
	struct child *child;

	(void)state;
	world.core.ended.keeps = true;
	world_trace(&world, NULL, false);
	child = world_start(&world);
	child_ask(child, CHILD_MAP, world.allocator);
	assert_true(follow_process(&world.core.follow, open_process(child->pid), 5, false));
	ended = world_find(&world, child->pid);
	follow_release(&world.core.follow);
	assert_int_equal(world.core.processes.reusable_count, 0);
	follow_end(&world.core.follow, &ended, 1);
	assert_int_equal(world.core.processes.reusable_count, 0);
	follow_release(&world.core.follow);
	assert_int_equal(world.core.processes.reusable_count, 1);
	assert_int_equal(address_space_count(ended->space), 0);
	assert_false(world_logged(&world, "nothing is probed in process"));
	assert_ptr_equal(world.core.ended.programs[0].process, ended);
	child = world_start(&world);
	assert_true(follow_process(&world.core.follow, open_process(child->pid), 6, false));
	next = world_find(&world, child->pid);
	assert_int_equal(next->target_id, 2);
	assert_null(world.core.ended.programs[0].process);
	assert_int_equal(fake_interps_dropped, 1);
}

/* A report without a site does not show why it has none. */
static void test_warn(void **state)
{
	struct process *process, *other;
	struct child *child;
	uint64_t now;

	(void)state;
	world.log.level = LOG_NOTICE;
	process = world_trace(&world, &child, false);
	other = world_trace(&world, NULL, true);
	now = clock_now_ns();
	/* Its program has just begun, and still maps its libraries. */
	process->target.exec_ns = other->target.exec_ns = now;
	follow_warn(&world.core.follow, now + SECOND_NS / 2);
	assert_false(world_logged(&world, "nothing is probed"));
	follow_warn(&world.core.follow, now + 2 * SECOND_NS);
	assert_true(world_logged(&world, "nothing is probed in process"));
	assert_true(process->warned_unprobed);
	assert_false(other->warned_unprobed);
	assert_false(world_logged(&world, "the first thread"));
	process->first_thread_ended = true;
	follow_warn(&world.core.follow, now + 2 * SECOND_NS);
	assert_true(world_logged(&world, "the first thread of process"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_add),
		WORLD_TEST(test_in_windows),
		WORLD_TEST(test_too_many),
		WORLD_TEST(test_ended_meanwhile),
		WORLD_TEST(test_seccomp),
		WORLD_TEST(test_new_process_of_pid_used_again),
		WORLD_TEST(test_new_process_by_exec),
		WORLD_TEST(test_end_is_pending),
		WORLD_TEST(test_late_child),
		WORLD_TEST(test_sharer),
		WORLD_TEST(test_flood),
		WORLD_TEST(test_missed_once),
		WORLD_TEST(test_flood_while_selecting),
		WORLD_TEST(test_find_children),
		WORLD_TEST(test_find_grandchildren),
		WORLD_TEST(test_tree),
		WORLD_TEST(test_select),
		WORLD_TEST(test_select_once),
		WORLD_TEST(test_missed_of_all),
		WORLD_TEST(test_end),
		WORLD_TEST(test_end_together),
		WORLD_TEST(test_release),
		WORLD_TEST(test_warn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
