/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory limit that control groups set for this process. */
#ifndef SYSTEM_CGROUP_MEMORY_H
#define SYSTEM_CGROUP_MEMORY_H

#include <stdint.h>

/*
 * The lowest limit, in bytes, of this process's group and its ancestors: memory.max, or
 * memory.limit_in_bytes of version 1. UINT64_MAX if there is none, or none is visible. `proc_root`
 * is "/proc", `root` is CGROUP_ROOT.
 */
uint64_t cgroup_memory_limit(const char *proc_root, const char *root);

#endif
