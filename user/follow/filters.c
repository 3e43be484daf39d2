/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See filters.h. */
#include "follow/filters.h"

#include <errno.h>

#include "system/proc.h"

bool filters_allow(struct filters *filters)
{
	if (!filters->functions)
		return true;
	if (filters->known == RETURNS_UNCHECKED)
		filters->known = return_check_run(filters->features);
	return filters->force || filters->known == RETURNS_SAFE;
}

int filters_check(struct filters *filters, const struct process *process, struct error *error)
{
	struct proc_status status;

	if (proc_read_status("/proc", process->target.pid, &status) || !status.seccomp ||
	    filters_allow(filters))
		return 0;
	return error_set(
		error, ERROR_PERMISSION, -ENOTSUP,
		"process %d has a seccomp filter, and %s: its next malloc could be its "
		"end; boot a kernel that exempts probes from seccomp (Linux 6.14, and "
		"earlier ones with the fix), have the filter allow the system calls uretprobe "
		"(335) and uprobe (336), or use --force",
		process->target.pid,
		filters->known == RETURNS_FATAL
			? "this kernel lets such filters kill what is probed"
			: "it cannot be found out whether this kernel lets such filters "
			  "kill what is probed");
}
