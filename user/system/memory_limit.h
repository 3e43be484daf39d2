/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory the control groups of this process leave to it. */
#ifndef SYSTEM_MEMORY_LIMIT_H
#define SYSTEM_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * The smallest memory limit of the group that this process is in, and of those around it, in bytes; UINT64_MAX if there is
 * none. `proc_root` and `cgroup_root` are "/proc" and "/sys/fs/cgroup". Both versions of control groups are understood.
 */
uint64_t memory_limit_read(const char *proc_root, const char *cgroup_root);

#endif
