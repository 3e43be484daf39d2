/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See hold.h. */
#include "follow/hold.h"

#include "base/clock.h"
#include "discover/translator.h"
#include "system/proc.h"

/* Does it run in the memory of its parent? */
static bool hold_shares_memory(struct follow *follow, const struct process *process)
{
	struct proc_status status;

	if (proc_read_status("/proc", process->target.pid, &status) ||
	    !follow_shares_memory(process, (uint32_t)status.parent_pid))
		return false;
	late_sharer(follow->scan->late, process,
		    process_table_find(follow->processes, (uint32_t)status.parent_pid));
	return true;
}

/* The process that opens a file, which may have been unknown until now. NULL if it is not to be traced. */
static struct process *hold_find_opener(struct follow *follow, pid_t pid, bool exec)
{
	struct process *process = process_table_find(follow->processes, (uint32_t)pid);
	uint64_t found_ns = clock_now_ns();
	bool shares;

	if (process || !follow->children || process_open(pid, &process, NULL))
		return process;
	/* What is held in an exec is about to leave that memory. */
	shares = hold_shares_memory(follow, process);
	if (!exec && shares) {
		process_free(process);
		return NULL;
	}
	if (!follow_process(follow, process, found_ns, false))
		return NULL;
	if (!shares && probe_set_has_any(follow->scan->probes, process))
		late_child(follow->scan->late, process, found_ns);
	return process;
}

bool hold_see_open(struct follow *follow, pid_t pid, uint32_t module, bool exec)
{
	struct process *process = hold_find_opener(follow, pid, exec);
	const struct planned_file *file;

	if (!process)
		return true;
	/* Its exec may not have been reported yet. */
	if (!process->translator) {
		process->translator = translator_find_of(pid);
		if (process->translator)
			scan_leave_translated(follow->scan, process);
	}
	if (process->translator)
		return true;
	/* Its first calls are made before the record of the mapping has been read. */
	unwind_loader_expect(follow->scan->unwind, module);
	file = scan_plan(follow->scan, process, module);
	if (file && !file->count)
		return false;
	scan_probe_new_module(follow->scan, process, module);
	return true;
}
