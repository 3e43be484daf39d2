/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the control group of a process is charged with: its memory.stat, of version 1 or 2. */
#ifndef SYSTEM_CGROUP_ACCOUNT_H
#define SYSTEM_CGROUP_ACCOUNT_H

#include <stdint.h>

#include "system/cgroup.h"

/* Bytes; UINT64_MAX where it has no such line. */
struct cgroup_account {
	uint64_t usage, limit; /* limit: of this group alone; UINT64_MAX = none */
	uint64_t anon, file, shmem, kernel, slab, socket;
};

/*
 * Of the smallest group that all processes of `list` are in which still run, with the groups in it. `proc_root` is "/proc", `root` is
 * CGROUP_ROOT. Returns 0; -ENOENT if there is none with an account, or it is the root of all.
 */
int cgroup_account_read(const char *proc_root, const char *root, const struct pid_list *list,
			struct cgroup_account *ret_account);

#endif
