/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time of a process: all its threads, ended ones included. */
#ifndef SYSTEM_CPU_TIME_H
#define SYSTEM_CPU_TIME_H

#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds; 0 if there is no such process. */
uint64_t cpu_time_read(pid_t pid);

#endif
