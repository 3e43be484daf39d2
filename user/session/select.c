/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that are not named one by one: looked for at the start, whenever the kernel tells of a new process or
 * program, and now and then, because names and cgroups change without its telling. With the whole machine, a file is
 * probed once for all who map it, and the programs ask whose call it is.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/parts.h"
#include "tracer.skel.h"

/* How often is looked for processes that the kernel did not tell of. */
#define SELECT_NS 1000000000

/* Descriptors of the programs, their maps, and what tells of one process. */
#define FILES_MIN 128
#define FILES_REST 256

bool session_selects(const struct session *session)
{
	return session->options.selector &&
	       !(session->options.select_once && session->has_selected);
}

bool session_is_machine_wide(const struct session *session)
{
	return session->options.selector && session->options.selector->kind == SELECT_ALL &&
	       session->allows_all && session->features.task_storage &&
	       session->backend <= BACKEND_KERNEL_MULTI;
}

/* It is looked up by the task, so pid namespaces do not matter, and the kernel forgets it with the task. */
void session_tell_owner(const struct session *session, const struct process *process)
{
	uint32_t owner = session_owner_number(session, process);

	if (session_is_machine_wide(session))
		bpf_map_update_elem(bpf_map__fd(session->bpf->maps.owners), &process->target.pidfd,
				    &owner, BPF_ANY);
}

/* Tried on the tracer's own task, which gets no owner by it. */
void session_check_owners(struct session *session)
{
	uint32_t none = 0;
	int pidfd, code;

	if (!session_is_machine_wide(session))
		return;
	pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	code = bpf_map_update_elem(bpf_map__fd(session->bpf->maps.owners), &pidfd, &none, BPF_ANY);
	if (pidfd >= 0)
		close(pidfd);
	if (!code)
		return;
	session->allows_all = false;
	log_write(session->options.log, LOG_VERBOSE,
		  "each process is probed by itself: the kernel keeps nothing with a task for the "
		  "loader (%s)",
		  strerror(-code));
}

void session_select(struct session *session)
{
	struct pid_list list = { 0 };
	struct process *process;
	struct error error = { 0 };
	bool once = session->options.select_once;
	size_t i;

	if (!session_selects(session))
		return;
	session->select_ns = session_now() + SELECT_NS;
	selector_list(session->options.selector, &list);
	for (i = 0; i < list.count; i++)
		if (!session_find_process(session, (uint32_t)list.pids[i]) &&
		    selector_has(session->options.selector, list.pids[i]) &&
		    !process_open(list.pids[i], &process, &error))
			session->has_selected |= session_follow(session, process, 0, once);
	pid_list_free(&list);
}

/* Probes, processes and what is open for a moment need descriptors, too. */
static size_t session_module_limit(uint64_t files)
{
	uint64_t rest = files / 4 > FILES_REST ? files / 4 : FILES_REST;

	return files > 2 * rest ? (size_t)(files - rest) : (size_t)(files / 2);
}

int session_raise_limit(struct session *session, struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	session->options.modules->limit = session_module_limit(limit.rlim_max);
	session->options.modules->is_shared = session->options.several || session->options.selector;
	if (limit.rlim_max >= FILES_MIN)
		return 0;
	return error_set(error, ERROR_PERMISSION, -EMFILE,
			 "this process may open %llu files only, and %d are needed at least: raise "
			 "the hard limit (ulimit -Hn)",
			 (unsigned long long)limit.rlim_max, FILES_MIN);
}
