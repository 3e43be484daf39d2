/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's figures of a process: status, memory outside of RSS, control group,
 * descendants.
 */
#ifndef MEMORY_MEMORY_KERNEL_H
#define MEMORY_MEMORY_KERNEL_H

#include "model/memory_report.h"
#include "system/proc.h"

/*
 * Fill in the kernel's part of a report on the process of `status`. Unreadable figures stay
 * unknown.
 */
void memory_kernel_read(const struct proc_status *status, struct memory_report *report);

/*
 * For a sum of several processes: read the account of the smallest group containing all. Stays
 * unknown if that is the root group.
 */
void memory_kernel_read_groups(struct memory_report *sum);

#endif
