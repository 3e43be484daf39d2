/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts processes that the kernel has killed for lack of memory in the control groups of given
 * processes: memory.events of version 2, including descendant groups, or memory.oom_control of
 * version 1, without them. For processes in no accounted group, counts on the whole machine. Files
 * are opened for each reading; no group is held open.
 */
#ifndef SYSTEM_OOM_WATCH_H
#define SYSTEM_OOM_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct oom_group {
	char *path; /* of the counting file; owned */
	uint64_t kills; /* at the last reading */
};

/* Start with {0}. Free with oom_watch_free. */
struct oom_watch {
	struct oom_group *groups;
	size_t count, capacity;
};

/*
 * Also watch the group of a process: later kills there count. `proc_root` is "/proc", `root` is
 * CGROUP_ROOT. Does nothing if the process is gone.
 */
void oom_watch_add(struct oom_watch *watch, const char *proc_root, const char *root, pid_t pid);

/*
 * Processes killed since the last call, or since their group is watched; counted twice where a
 * watched group contains another. Drops groups that are gone.
 */
uint64_t oom_watch_take(struct oom_watch *watch);

void oom_watch_free(struct oom_watch *watch);

#endif
