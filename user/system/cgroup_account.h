/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory account of a control group: its memory.stat, version 1 or 2. */
#ifndef SYSTEM_CGROUP_ACCOUNT_H
#define SYSTEM_CGROUP_ACCOUNT_H

#include <stdint.h>

#include "system/cgroup.h"

/* Bytes; UINT64_MAX = the file lacks the line. */
struct cgroup_account {
	uint64_t usage, limit; /* limit: set on this group itself; UINT64_MAX = none */
	uint64_t anon, file, shmem, kernel, slab, socket;
};

/*
 * Read the account of the smallest group, with its descendants, that contains all running processes
 * of `list`. `proc_root` is "/proc", `root` is CGROUP_ROOT. Returns 0, or -ENOENT if no such group
 * has an account, or it is the root group.
 */
int cgroup_account_read(const char *proc_root, const char *root, const struct pid_list *list,
			struct cgroup_account *ret_account);

#endif
