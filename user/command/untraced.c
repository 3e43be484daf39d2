/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See untraced.h. */
#include "command/untraced.h"

#include "discover/descendants.h"
#include "system/proc.h"

static size_t untraced_count(const struct session *session, pid_t pid)
{
	struct pid_list list = { 0 };
	size_t i, count = 0;

	descendants_list_children(pid, &list);
	for (i = 0; i < list.count; i++)
		count += !session_traces(session, list.pids[i]);
	pid_list_free(&list);
	return count;
}

void untraced_log(const struct log *log, const struct options *options,
		  const struct session *session)
{
	struct proc_status status;
	size_t i, count;

	for (i = 0; i < options->pid_count && options->by_pid; i++) {
		count = untraced_count(session, options->pids[i]);
		if (!count || proc_read_status("/proc", options->pids[i], &status))
			continue;
		log_write(log, LOG_NOTICE,
			  "process %d (%s) has %zu child%s that %s not traced: --tree %d",
			  options->pids[i], status.comm, count, count == 1 ? "" : "ren",
			  count == 1 ? "is" : "are", options->pids[i]);
	}
}
