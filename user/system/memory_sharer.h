/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that share the address space of another: vfork() children before their exec, and
 * clone(CLONE_VM) children.
 */
#ifndef SYSTEM_MEMORY_SHARER_H
#define SYSTEM_MEMORY_SHARER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The pid of a process that shares all memory of `pid`; 0 = none; -1 = the kernel does not show it.
 * A process that the caller may not inspect counts as not sharing. A new one can only be born while
 * a thread of `pid`, or of another sharer, runs.
 */
pid_t memory_sharer_find(const char *proc_root, pid_t pid);

/*
 * Are there processes that memory_sharer_find cannot see: is the caller's pid namespace another one than the first, or is that not known? One of them
 * may have called clone() with CLONE_VM and CLONE_NEWPID.
 */
bool memory_sharer_is_blind(const char *proc_root);

#endif
