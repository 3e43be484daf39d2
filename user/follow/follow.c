/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See follow.h. */
#include "follow/follow.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "discover/descendants.h"
#include "discover/module_finder.h"
#include "system/privilege.h"
#include "system/proc.h"

/* Interval of the search for processes without a record. */
#define SELECT_NS 1000000000

/* A program that runs for so long has mapped its C library. */
#define LOADING_NS 1000000000

/* How far the start of a process in /proc may lie behind the kernel's record of it: two ticks of /proc's clock. */
#define START_TOLERANCE_NS 20000000

void follow_free(struct follow *follow)
{
	free(follow->new_processes);
	follow->new_processes = NULL;
	follow->new_count = follow->new_capacity = 0;
}

/* Nothing may refer to a process that is freed. */
static void follow_drop(struct follow *follow, struct process *process)
{
	probe_set_forget(follow->scan->probes, process, false);
	ended_forget_process(follow->ended, process);
	interp_table_drop(follow->scan->interps, process);
	jit_names_drop(follow->jit_names, &process->target);
}

static bool follow_place(struct follow *follow, struct process *process, bool root)
{
	struct process *reused = process_table_reused(follow->processes);

	if (reused)
		follow_drop(follow, reused);
	else
		follow->scan->modules->is_shared |= follow->processes->count > 0;
	return process_table_add(follow->processes, process, root);
}

/* Files that a held command is going to map; what it has mapped until then is the tracer's. */
static int follow_probe_paths(struct follow *follow, struct process *process, char *const *paths,
			      struct error *error)
{
	struct scan *scan = follow->scan;
	uint32_t module;
	size_t i;
	int code = 0;

	unwind_loader_begin(scan->unwind, process->target_id);
	for (i = 0; paths[i] && !code; i++) {
		module = module_find_path(scan->modules, process->target.pid, paths[i]);
		unwind_loader_add_module(scan->unwind, module);
		code = scan_probe_module(scan, process, module, error);
	}
	return code;
}

void follow_publish(const struct follow *follow, const struct process *process)
{
	/* The map finds it by the task, so pid namespaces do not matter, and the kernel drops it with the task. */
	if (follow->scan->probes->machine_wide)
		maps_set(follow->maps, MAPS_TARGET_IDS, &process->target.pidfd,
			 &process->target_id);
}

static int follow_probe(struct follow *follow, struct process *process, char *const *paths,
			uint64_t time_ns, struct error *error)
{
	int code = process_scan(process, follow->scan->modules, time_ns);

	if (!code && (process_check_translator(process, error) ||
		      filters_check(follow->filters, process, error)))
		return -ENOTSUP;
	if (code == -EACCES || code == -EPERM)
		return privileges_refuse(STEP_LOOK, code, error);
	if (code)
		return error_set(error, code == -ESRCH ? ERROR_TARGET : ERROR_PERMISSION, code,
				 "cannot read the mappings of process %d: %s", process->target.pid,
				 strerror(-code));
	code = paths ? follow_probe_paths(follow, process, paths, error)
		     : scan_probe_mapped(follow->scan, process, error);
	follow_publish(follow, process);
	scan_see_interpreter(follow->scan, process);
	process->probed = true;
	if (!code && !process_alive(process))
		code = error_set(error, ERROR_TARGET, -ESRCH,
				 "process %d ended before it was probed", process->target.pid);
	return code;
}

int follow_add(struct follow *follow, struct process *process, char *const *paths,
	       struct error *error)
{
	if (!follow_place(follow, process, true)) {
		process_free(process);
		return error_set(error, ERROR_TARGET, -EMFILE, "more than %d processes",
				 PROCESS_TABLE_MAX);
	}
	return follow_probe(follow, process, paths, 0, error);
}

bool follow_process(struct follow *follow, struct process *process, uint64_t time_ns, bool root)
{
	struct error error = { 0 };
	int code;

	if (!follow_place(follow, process, root)) {
		process_free(process);
		return false;
	}
	process->target.exec_ns = time_ns;
	if (time_ns)
		process->follow_ns = time_ns;
	code = follow_probe(follow, process, NULL, time_ns ? clock_now_ns() : 0, &error);
	if (!code)
		log_write(follow->log, LOG_VERBOSE, "also tracing process %d (%s)",
			  process->target.pid, process->target.comm);
	else if (code != -ESRCH)
		log_write(follow->log, LOG_NOTICE, "process %d is not traced: %s",
			  process->target.pid, error.text);
	return !code;
}

/* Processes that the selector means */

bool follow_selects(const struct follow *follow)
{
	return follow->selector && !(follow->select_once && follow->has_selected);
}

void follow_select(struct follow *follow)
{
	struct pid_list list = { 0 };
	struct process *process;
	struct error error = { 0 };
	bool once = follow->select_once;
	size_t i;

	if (!follow_selects(follow))
		return;
	follow->select_ns = clock_now_ns() + SELECT_NS;
	selector_list(follow->selector, &list);
	for (i = 0; i < list.count; i++) {
		if (process_table_find(follow->processes, (uint32_t)list.pids[i]) ||
		    !selector_has(follow->selector, list.pids[i]))
			continue;
		follow->has_matched = true;
		if (!process_open(list.pids[i], &process, &error))
			follow->has_selected |= follow_process(follow, process, 0, once);
	}
	pid_list_free(&list);
}

void follow_select_due(struct follow *follow)
{
	if (!follow->select_ns || follow->select_ns > clock_now_ns())
		return;
	follow->select_ns = 0;
	follow_select(follow);
}

/* Children */

bool follow_shares_memory(const struct process *process, uint32_t parent)
{
	return parent && !syscall(SYS_kcmp, parent, process->target.pid, KCMP_VM, 0, 0);
}

/* A time of CLOCK_MONOTONIC by the clock of /proc, which goes on while the machine sleeps. */
static uint64_t time_by_proc(uint64_t time_ns)
{
	return clock_boot_ns() - (clock_now_ns() - time_ns);
}

/* In whole ticks of /proc's clock: it was up to one tick later. */
static uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * Did the process begin before the record of one with its pid? If not, the pid was used again. How long before does
 * not matter: the one of then had no other time.
 */
static bool process_began_at(const struct process *process, uint64_t time_ns)
{
	return ticks_to_ns(process->start_ticks) <= time_by_proc(time_ns) + START_TOLERANCE_NS;
}

/* Those that run in the memory of their parents are found when they execute a program. */
static void follow_descendant(struct follow *follow, pid_t pid)
{
	struct process *process;
	struct proc_status status;

	if (process_table_find(follow->processes, (uint32_t)pid))
		return;
	process_table_add_descendant(follow->processes, (uint32_t)pid);
	if (proc_read_status("/proc", pid, &status) || process_open(pid, &process, NULL))
		return;
	if (follow_shares_memory(process, (uint32_t)status.parent_pid))
		process_free(process);
	else
		follow_process(follow, process, 0, false);
}

void follow_descendants(struct follow *follow)
{
	const struct process_table *processes = follow->processes;
	struct pid_list list = { 0 };
	size_t i;

	for (i = 0; i < processes->count; i++)
		if (!processes->slots[i].process->target.exited)
			descendants_list(processes->slots[i].process->target.pid, &list);
	for (i = 0; i < list.count; i++)
		follow_descendant(follow, list.pids[i]);
	pid_list_free(&list);
}

void follow_add_new(struct follow *follow, const struct new_process *created)
{
	follow->new_processes = memory_grow(follow->new_processes, follow->new_count,
					    &follow->new_capacity, sizeof(*follow->new_processes));
	follow->new_processes[follow->new_count++] = *created;
}

/* Children that a process had before the attach are not followed. */
static bool follow_saw_start(const struct follow *follow, uint32_t pid, uint32_t parent)
{
	const struct process *process = process_table_find(follow->processes, parent);
	uint64_t ticks;

	if (!process)
		return true;
	return !proc_read_start_time("/proc", (pid_t)pid, &ticks) &&
	       ticks_to_ns(ticks + 1) > time_by_proc(process->follow_ns);
}

/* True if it is a descendant that was not known. */
static bool follow_find_child(struct follow *follow, uint32_t pid)
{
	struct new_process created = { .pid = pid,
				       .is_descendant = true,
				       .time_ns = clock_now_ns() };
	struct process_table *processes = follow->processes;
	struct proc_status status;

	if (process_table_is_descendant(processes, pid) ||
	    proc_read_status("/proc", (pid_t)pid, &status))
		return false;
	created.parent = (uint32_t)status.parent_pid;
	if (!created.parent || !process_table_is_descendant(processes, created.parent) ||
	    !follow_saw_start(follow, pid, created.parent))
		return false;
	process_table_add_descendant(processes, pid);
	follow_add_new(follow, &created);
	return true;
}

void follow_find_children(struct follow *follow)
{
	struct pid_list list = { 0 };
	bool found = true;
	size_t i;

	follow->children_unknown = false;
	proc_list_pids("/proc", &list);
	while (found) {
		found = false;
		for (i = 0; i < list.count; i++)
			found |= follow_find_child(follow, (uint32_t)list.pids[i]);
	}
	pid_list_free(&list);
}

/* Is it the one of the record, and to be traced? */
static bool follow_wants(struct follow *follow, const struct process *process,
			 const struct new_process *created)
{
	if (follow_shares_memory(process, created->parent)) {
		late_sharer(follow->scan->late, process,
			    process_table_find(follow->processes, created->parent));
		return false;
	}
	if (!created->is_descendant)
		return follow_selects(follow) &&
		       selector_has(follow->selector, process->target.pid);
	return !created->parent || process_began_at(process, created->time_ns);
}

/* Trace a new process if it is to be traced. False if it is and cannot be. */
static bool follow_new_process(struct follow *follow, const struct new_process *created)
{
	bool root = follow->select_once && !created->is_descendant;
	struct process *process;

	if (process_table_find(follow->processes, created->pid))
		return true;
	if (probe_set_closing(follow->scan->probes) > FOLLOW_PENDING_MAX && !root)
		return false;
	if (process_open((pid_t)created->pid, &process, NULL))
		return false;
	if (!follow_wants(follow, process, created)) {
		process_free(process);
		return true;
	}
	if (!follow_process(follow, process, created->time_ns, root))
		return false;
	if (probe_set_has_any(follow->scan->probes, process))
		late_child(follow->scan->late, process, created->time_ns);
	follow->has_selected |= !created->is_descendant;
	return true;
}

/* One that was to be traced cannot be. What a process executes later is no process of its own. */
static void follow_miss(struct follow *follow, const struct new_process *created)
{
	bool all = follow->selector && follow->selector->kind == SELECT_ALL;

	if (created->is_descendant)
		follow->children_missed +=
			process_table_miss_descendant(follow->processes, created->pid);
	else
		follow->children_missed += all && created->parent;
}

void follow_new_processes(struct follow *follow)
{
	size_t i;

	for (i = 0; i < follow->new_count; i++)
		if (!follow_new_process(follow, &follow->new_processes[i]))
			follow_miss(follow, &follow->new_processes[i]);
	follow->new_count = 0;
}

/* Ends */

bool follow_is_over(const struct follow *follow)
{
	if (follow->tree && process_table_running(follow->processes))
		return false;
	return !follow->processes->roots_running && !follow_selects(follow);
}

static void follow_end_process(struct follow *follow, struct process *process)
{
	interp_table_forget(follow->scan->interps, process);
	unwind_loader_forget(follow->scan->unwind, process->target_id);
	process_table_end(follow->processes, process);
	probe_set_end(follow->scan->probes, process);
}

void follow_end(struct follow *follow, struct process *const *processes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		follow_end_process(follow, processes[i]);
	/* The last report shows what these held. */
	for (i = 0; i < count; i++) {
		if ((follow->tree || process_table_slot(follow->processes, processes[i])->root) &&
		    follow_is_over(follow))
			continue;
		ended_add_program(follow->ended, processes[i], UINT64_MAX);
		processes[i]->to_reap = true;
		follow->ended->needs_reap = true;
	}
}

/* A report without a site does not show that nothing is probed in a process: warn. */
static void follow_warn_unprobed(const struct follow *follow, struct process *process,
				 uint64_t time_ns)
{
	const struct target *target = &process->target;
	bool settled = target->exited || time_ns > target->exec_ns + LOADING_NS;

	if (!process->warned_unprobed && settled &&
	    !probe_set_covers(follow->scan->probes, process))
		notices_unprobed(follow->scan->late->notices, process,
				 process_table_slot(follow->processes, process)->root,
				 follow->scan->only_samples);
}

void follow_release(struct follow *follow)
{
	uint64_t now = clock_now_ns();
	size_t i;

	for (i = 0; i < follow->processes->count; i++) {
		struct process *process = follow->processes->slots[i].process;

		if (!process->to_reap)
			continue;
		if (address_space_count(process->space))
			follow_warn_unprobed(follow, process, now);
		process->warned_unprobed = true;
		probe_set_forget(follow->scan->probes, process, false);
		address_space_forget_all(process->space);
		process_table_release(follow->processes, process);
	}
}

void follow_warn(const struct follow *follow, uint64_t time_ns)
{
	size_t i;

	for (i = 0; i < follow->processes->count; i++) {
		struct process *process = follow->processes->slots[i].process;

		notices_first_thread_ended(follow->scan->late->notices, process);
		follow_warn_unprobed(follow, process, time_ns);
	}
}
