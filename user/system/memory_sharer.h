/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes that have the memory of a process as their own: children of vfork() until they execute a program, and those of clone() with CLONE_VM. */
#ifndef SYSTEM_MEMORY_SHARER_H
#define SYSTEM_MEMORY_SHARER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * One that shares all memory of `pid`: its number, 0 if there is none, -1 if the kernel does not show it. Processes that the caller may not
 * look at count as others. One is only born where a thread of `pid`, or another one of these, runs.
 */
pid_t memory_sharer_find(const char *proc_root, pid_t pid);

/*
 * Are there processes that memory_sharer_find cannot see: is the caller's pid namespace another one than the first, or is that not known? One of them
 * may have called clone() with CLONE_VM and CLONE_NEWPID.
 */
bool memory_sharer_is_blind(const char *proc_root);

#endif
