/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes by their parents: children that run now, and theirs. Only what has memory of its own counts. */
#ifndef DISCOVER_DESCENDANTS_H
#define DISCOVER_DESCENDANTS_H

#include <sys/types.h>

#include "system/cgroup.h"

/*
 * Append the descendants of a process that are not in the list yet, the tracer and its own children left out. One whose parent has
 * ended has another parent by now, and is none.
 */
void descendants_list(pid_t pid, struct pid_list *list);

/* Append its children only. */
void descendants_list_children(pid_t pid, struct pid_list *list);

#endif
