/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's lists of CPUs, such as "0-3,5" in /sys/devices/system/cpu/online. */
#ifndef SYSTEM_CPU_LIST_H
#define SYSTEM_CPU_LIST_H

#include <stdbool.h>

#define CPU_LIST_MAX 65536 /* larger numbers are rejected */

/*
 * The next range of a list, inclusive; advances `*list`. False at the end, or where the list is
 * malformed.
 */
bool cpu_list_next(const char **list, int *ret_first, int *ret_last);

/* Is a CPU in the list? */
bool cpu_list_has(const char *list, int cpu);

#endif
