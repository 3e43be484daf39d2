/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists running children and descendants of processes. Only processes with an address space of
 * their own count.
 */
#ifndef DISCOVER_DESCENDANTS_H
#define DISCOVER_DESCENDANTS_H

#include <sys/types.h>

#include "system/cgroup.h"

/*
 * Append the descendants of a process that are not in the list yet, except the tracer and its
 * children. A process whose parent has ended was reparented, and is not found.
 */
void descendants_list(pid_t pid, struct pid_list *list);

/* Append its children only. */
void descendants_list_children(pid_t pid, struct pid_list *list);

#endif
