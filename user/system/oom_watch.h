/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many processes the kernel has killed because memory has run out, in the control groups of some processes: memory.events
 * of version 2, with the groups within it, or memory.oom_control of version 1, without them. Of processes that are in no group
 * whose memory is counted: on the whole machine. Groups are asked by their files each time: none is held open.
 */
#ifndef SYSTEM_OOM_WATCH_H
#define SYSTEM_OOM_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct oom_group {
	char *path; /* of the file that counts; owned */
	uint64_t kills; /* when it was last read */
};

/* Start with {0}. Free with oom_watch_free. */
struct oom_watch {
	struct oom_group *groups;
	size_t count, capacity;
};

/*
 * Watch the group of a process, too: what is killed there from now on counts. `proc_root` is "/proc", `root` is CGROUP_ROOT. Does
 * nothing if the process has gone.
 */
void oom_watch_add(struct oom_watch *watch, const char *proc_root, const char *root, pid_t pid);

/*
 * Processes that were killed since the last call, or since their group is watched; twice where a group is in another one that is
 * watched. Groups that are gone are watched no more.
 */
uint64_t oom_watch_take(struct oom_watch *watch);

void oom_watch_free(struct oom_watch *watch);

#endif
