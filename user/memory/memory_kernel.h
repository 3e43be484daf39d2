/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts for a process: its own figures, what it holds besides RSS, the control group, the descendants. */
#ifndef MEMORY_MEMORY_KERNEL_H
#define MEMORY_MEMORY_KERNEL_H

#include "model/memory_report.h"
#include "system/proc.h"

/* Fill the kernel's part of a report on the process of `status`. What cannot be read stays unknown. */
void memory_kernel_read(const struct proc_status *status, struct memory_report *report);

/*
 * Of a sum of several processes: the account is that of the smallest group that all of them are in. It stays unknown if that is the root
 * of all.
 */
void memory_kernel_read_groups(struct memory_report *sum);

#endif
