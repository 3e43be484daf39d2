/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that processes are held at while they open them: probes are in before the first instruction runs. What is
 * known already, of the file or of the process, costs nothing here.
 */
#include "discover/module_finder.h"
#include "session/parts.h"
#include "system/proc.h"

/* Does it run in the memory of its parent? */
static bool session_shares(struct session *session, const struct process *process)
{
	struct proc_status status;

	if (proc_read_status("/proc", process->target.pid, &status) ||
	    !process_shares_memory(process, (uint32_t)status.parent_pid))
		return false;
	session_late_sharer(session, process, (uint32_t)status.parent_pid);
	return true;
}

/* The process that opens a file, which may have been unknown until now. NULL if it is not to be traced. */
static struct process *session_find_opener(struct session *session, pid_t pid, bool exec)
{
	struct process *process = session_find_process(session, (uint32_t)pid);
	uint64_t found_ns = session_now();
	bool shares;

	if (process || !session->options.follow_fork || process_open(pid, &process, NULL))
		return process;
	/* What is held in an exec is about to leave that memory. */
	shares = session_shares(session, process);
	if (!exec && shares) {
		process_free(process);
		return NULL;
	}
	if (!session_follow(session, process, found_ns, false))
		return NULL;
	if (!shares)
		session_late_child(session, process, found_ns);
	return process;
}

bool session_see_open(struct session *session, pid_t pid, int fd, bool exec)
{
	uint32_t module = module_find_open(session->options.modules, pid, fd);
	struct process *process;

	if (module == MODULE_NONE)
		return true;
	session_catch_up(session);
	process = session_find_opener(session, pid, exec);
	if (!process)
		return true;
	if (session_has_nothing(session, process, module))
		return false;
	session_probe_quietly(session, process, module);
	return true;
}
