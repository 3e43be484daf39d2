/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory the control groups of this process let it have. */
#ifndef SYSTEM_CGROUP_MEMORY_H
#define SYSTEM_CGROUP_MEMORY_H

#include <stdint.h>

/*
 * The lowest limit in bytes of the group that this process is in and of those around it: memory.max, or
 * memory.limit_in_bytes of version 1. UINT64_MAX if there is none, or none that can be seen. `proc_root` is "/proc", `root`
 * is CGROUP_ROOT.
 */
uint64_t cgroup_memory_limit(const char *proc_root, const char *root);

#endif
