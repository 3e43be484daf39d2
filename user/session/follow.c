/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes a session traces: those that the user names, their children, and what becomes of the place of a
 * process that has ended. A place's position is what the programs know a process by, so it is given away again only
 * after everything that they have kept of its last holder is gone.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "discover/module_finder.h"
#include "session/parts.h"
#include "system/privilege.h"
#include "system/proc.h"

/* The position travels in 16 bits of a probe's cookie, plus one. */
#define PROCESSES_MAX 65534

/* How far the start of a process in /proc may lie behind the kernel's report of it: two ticks of /proc's clock. */
#define BIRTH_TOLERANCE_NS 20000000

/*
 * The kernel takes long to take probes out. While there are more than this many to be taken out, children are let go: who
 * follows all of a flood still has the probes of thousands in place when the flood is over.
 */
#define FOLLOW_PENDING_MAX 64

struct process *session_find_process(const struct session *session, uint32_t pid)
{
	size_t i;

	for (i = 0; i < session->process_count; i++)
		if ((uint32_t)session->processes[i]->target.pid == pid &&
		    !session->processes[i]->target.exited && !session->processes[i]->is_replaced)
			return session->processes[i];
	return NULL;
}

void session_forget_probes(struct session *session, const struct process *process)
{
	size_t i, kept = 0;

	for (i = 0; i < session->probed_count; i++)
		if (session->probed[i].process != process)
			session->probed[kept++] = session->probed[i];
	session->probed_count = kept;
}

/* Nothing may refer to a process that is freed. */
static void session_drop_process(struct session *session, struct process *process)
{
	session_forget_probes(session, process);
	session_forget_programs(session, process);
	interp_table_drop(session->interps, process);
	jit_names_drop(session->jit_names, &process->target);
	process_free(process);
}

/* A place for a process: that of one of which nothing is left, or a new one. False if there is none. */
static bool session_place(struct session *session, struct process *process, bool root)
{
	size_t at = 0, capacity = session->process_capacity;

	while (at < session->process_count && !session->slots[at].reusable)
		at++;
	if (at == PROCESSES_MAX)
		return false;
	if (at < session->process_count) {
		session_drop_process(session, session->processes[at]);
		free(session->slots[at].places);
	} else {
		session->processes = memory_grow(session->processes, session->process_count,
						 &session->process_capacity,
						 sizeof(struct process *));
		session->slots = memory_grow(session->slots, session->process_count, &capacity,
					     sizeof(*session->slots));
		session->options.modules->is_shared |= session->process_count++ > 0;
	}
	session->processes[at] = process;
	session->slots[at] = (struct process_slot){ .root = root };
	session->roots_running += root;
	return true;
}

/* Have session_find_ended learn of its end. */
static void session_watch_end(struct session *session, const struct process *process)
{
	struct epoll_event interest = { .events = EPOLLIN,
					.data.u32 = session_owner_number(session, process) };

	epoll_ctl(session->epoll, EPOLL_CTL_ADD, process->target.pidfd, &interest);
}

static int session_probe_mapped(struct session *session, struct process *process,
				struct error *error)
{
	uint32_t *mapped = NULL;
	size_t count, i;
	int code = 0;

	session_update_unwind(session, process);
	count = address_space_modules(process->space, &mapped);
	for (i = 0; i < count && !code; i++)
		code = session_probe_module(session, process, mapped[i], error);
	free(mapped);
	return code;
}

/* Files that a held command is going to map; what it has mapped until then is the tracer's. */
static int session_probe_paths(struct session *session, struct process *process, char *const *paths,
			       struct error *error)
{
	struct module_list *modules = session->options.modules;
	uint32_t module;
	size_t i;
	int code = 0;

	unwind_loader_begin(session->unwind, session_owner_number(session, process));
	for (i = 0; paths[i] && !code; i++) {
		module = module_find_path(modules, process->target.pid, paths[i]);
		unwind_loader_learn(session->unwind, module);
		code = session_probe_module(session, process, module, error);
	}
	return code;
}

bool session_filters_allow(struct session *session)
{
	/* Samples are told of at places that do not return. */
	if (!session_probes_functions(session))
		return true;
	if (session->returns == RETURNS_UNCHECKED)
		session->returns = session->options.returns;
	if (session->returns == RETURNS_UNCHECKED)
		session->returns = return_check_run(&session->features);
	return session->options.force || session->returns == RETURNS_SAFE;
}

/* Would it harm the process to be probed? */
static int session_check_filter(struct session *session, const struct process *process,
				struct error *error)
{
	struct proc_status status;

	if (proc_read_status("/proc", process->target.pid, &status) || !status.seccomp ||
	    session_filters_allow(session))
		return 0;
	return error_set(
		error, ERROR_PERMISSION, -ENOTSUP,
		"process %d has a seccomp filter, and %s: its next malloc could be its "
		"end; boot a kernel that exempts probes from seccomp (Linux 6.14, and "
		"earlier ones with the fix), have the filter allow the system calls uretprobe "
		"(335) and uprobe (336), or use --force",
		process->target.pid,
		session->returns == RETURNS_FATAL
			? "this kernel lets such filters kill what is probed"
			: "it cannot be found out whether this kernel lets such filters "
			  "kill what is probed");
}

static int session_probe_process(struct session *session, struct process *process,
				 char *const *paths, uint64_t time_ns, struct error *error)
{
	int code = process_scan(process, session->options.modules, time_ns);

	if (!code && session_check_filter(session, process, error))
		return -ENOTSUP;
	if (code == -EACCES || code == -EPERM)
		return privileges_refuse(STEP_LOOK, code, error);
	if (code)
		return error_set(error, code == -ESRCH ? ERROR_TARGET : ERROR_PERMISSION, code,
				 "cannot read the mappings of process %d: %s", process->target.pid,
				 strerror(-code));
	code = paths ? session_probe_paths(session, process, paths, error)
		     : session_probe_mapped(session, process, error);
	session_tell_owner(session, process);
	interp_table_see(session->interps, process, session_owner_number(session, process));
	process->probed = true;
	if (!code && !process_alive(process))
		code = error_set(error, ERROR_TARGET, -ESRCH,
				 "process %d ended before it was probed", process->target.pid);
	return code;
}

int session_add_process(struct session *session, struct process *process, char *const *paths,
			struct error *error)
{
	int code;

	if (!session_place(session, process, true)) {
		process_free(process);
		return error_set(error, ERROR_TARGET, -EMFILE, "more than %d processes",
				 PROCESSES_MAX);
	}
	session_watch_end(session, process);
	code = session_probe_process(session, process, paths, 0, error);
	if (!code)
		session_drain(session);
	return code;
}

/* Children */

bool process_shares_memory(const struct process *process, uint32_t parent)
{
	return parent && !syscall(SYS_kcmp, parent, process->target.pid, KCMP_VM, 0, 0);
}

/* A time of CLOCK_MONOTONIC by the clock of /proc, which goes on while the machine sleeps. */
static uint64_t session_boot_time(uint64_t time_ns)
{
	return clock_boot_ns() - (clock_now_ns() - time_ns);
}

/* In whole ticks of /proc's clock: it was up to one tick later. */
static uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * Did the process begin before the kernel told of one with its pid? If not, the pid was used again. How long before does
 * not matter: the one of then had no other time.
 */
static bool process_began_at(const struct process *process, uint64_t time_ns)
{
	return ticks_to_ns(process->start_ticks) <= session_boot_time(time_ns) + BIRTH_TOLERANCE_NS;
}

void session_note_birth(struct session *session, const struct birth *birth)
{
	session->births = memory_grow(session->births, session->birth_count,
				      &session->birth_capacity, sizeof(*session->births));
	session->births[session->birth_count++] = *birth;
}

bool session_is_kin(const struct session *session, uint32_t pid)
{
	return session_find_process(session, pid) || table_get(&session->kin, pid);
}

/* Children that a process had before the attach are not followed. */
static bool session_saw_birth(const struct session *session, uint32_t pid, uint32_t parent)
{
	const struct process *process = session_find_process(session, parent);
	uint64_t ticks;

	if (!process)
		return true;
	return !proc_read_start_time("/proc", (pid_t)pid, &ticks) &&
	       ticks_to_ns(ticks + 1) > session_boot_time(process->opened_ns);
}

/* True if it is one of kin that was not known. */
static bool session_find_child(struct session *session, uint32_t pid)
{
	struct birth birth = { .pid = pid, .kin = true, .time_ns = session_now() };
	struct proc_status status;

	if (session_is_kin(session, pid) || proc_read_status("/proc", (pid_t)pid, &status))
		return false;
	birth.parent = (uint32_t)status.parent_pid;
	if (!birth.parent || !session_is_kin(session, birth.parent) ||
	    !session_saw_birth(session, pid, birth.parent))
		return false;
	table_put(&session->kin, pid, session);
	session_note_birth(session, &birth);
	return true;
}

void session_find_children(struct session *session)
{
	struct pid_list list = { 0 };
	bool found = true;
	size_t i;

	session->children_unknown = false;
	proc_list_pids("/proc", &list);
	while (found) {
		found = false;
		for (i = 0; i < list.count; i++)
			found |= session_find_child(session, (uint32_t)list.pids[i]);
	}
	pid_list_free(&list);
}

/* Is it the one of the event, and for the session to trace? */
static bool session_wants(struct session *session, const struct process *process,
			  const struct birth *birth)
{
	if (process_shares_memory(process, birth->parent)) {
		session_late_sharer(session, process, birth->parent);
		return false;
	}
	if (!birth->kin)
		return session_selects(session) &&
		       selector_has(session->options.selector, process->target.pid);
	return !birth->parent || process_began_at(process, birth->time_ns);
}

bool session_follow(struct session *session, struct process *process, uint64_t time_ns, bool root)
{
	struct error error = { 0 };
	int code;

	if (!session_place(session, process, root)) {
		process_free(process);
		return false;
	}
	process->target.image_ns = time_ns;
	session_watch_end(session, process);
	code = session_probe_process(session, process, NULL, time_ns ? session_now() : 0, &error);
	if (!code)
		log_write(session->options.log, LOG_VERBOSE, "process %d (%s) is traced, too",
			  process->target.pid, process->target.comm);
	else if (code != -ESRCH)
		log_write(session->options.log, LOG_NOTICE, "process %d is not traced: %s",
			  process->target.pid, error.text);
	return !code;
}

/* Trace what was born, if it is to be traced. False if it is and cannot be. */
static bool session_handle_birth(struct session *session, const struct birth *birth)
{
	bool root = session->options.select_once && !birth->kin;
	struct process *process;

	if (session_find_process(session, birth->pid))
		return true;
	if (closer_pending(session->closer) > FOLLOW_PENDING_MAX && !root)
		return false;
	if (process_open((pid_t)birth->pid, &process, NULL))
		return false;
	if (!session_wants(session, process, birth)) {
		process_free(process);
		return true;
	}
	if (!session_follow(session, process, birth->time_ns, root))
		return false;
	session_late_child(session, process, birth->time_ns);
	session->has_selected |= !birth->kin;
	return true;
}

void session_handle_births(struct session *session)
{
	size_t i;

	for (i = 0; i < session->birth_count; i++)
		if (!session_handle_birth(session, &session->births[i]))
			session->children_missed += session->births[i].kin;
	session->birth_count = 0;
}

/* Ends */

size_t session_find_ended(const struct session *session, uint32_t *positions, size_t limit)
{
	struct epoll_event ready[64];
	int count = epoll_wait(session->epoll, ready, limit < 64 ? (int)limit : 64, 0), i;
	size_t found = 0;

	for (i = 0; i < count; i++)
		if (ready[i].data.u32)
			positions[found++] = ready[i].data.u32 - 1;
	return found;
}

static void session_end_process(struct session *session, uint32_t position)
{
	struct process *process = session->processes[position];

	epoll_ctl(session->epoll, EPOLL_CTL_DEL, process->target.pidfd, NULL);
	interp_table_forget(session->interps, process);
	unwind_loader_forget(session->unwind, position + 1);
	process->target.exited = true;
	session->roots_running -= session->slots[position].root;
	if (!session->closer)
		session->closer = closer_new();
	closer_add(session->closer, &session->slots[position].attachment);
}

void session_end_processes(struct session *session, const uint32_t *positions, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		session_end_process(session, positions[i]);
	/* The last report is to say what those held whose end it is. */
	for (i = 0; i < count; i++) {
		struct process *process = session->processes[positions[i]];

		if (session->slots[positions[i]].root && session_is_over(session))
			continue;
		session_keep_program(session, process, UINT64_MAX);
		process->buried = true;
		session->has_dead = true;
	}
}

void session_reuse_slots(struct session *session)
{
	size_t i;

	for (i = 0; i < session->process_count; i++) {
		if (!session->processes[i]->buried)
			continue;
		if (address_space_count(session->processes[i]->space))
			session_tell_unprobed(session, i, session_now());
		session->processes[i]->said_unprobed = true;
		session_forget_probes(session, session->processes[i]);
		address_space_forget_all(session->processes[i]->space);
		session->slots[i].reusable = !session->slots[i].root;
	}
}

bool session_is_over(const struct session *session)
{
	return !session->roots_running && !session_selects(session);
}

size_t session_running(const struct session *session)
{
	size_t i, running = 0;

	for (i = 0; i < session->process_count; i++)
		running += !session->processes[i]->target.exited;
	return running;
}

void session_free_processes(struct session *session)
{
	size_t i;

	for (i = 0; i < session->process_count; i++) {
		attachment_close(&session->slots[i].attachment);
		free(session->slots[i].places);
		process_free(session->processes[i]);
	}
	free(session->processes);
	free(session->slots);
	free(session->births);
	table_free(&session->kin);
	table_free(&session->sharers);
}
