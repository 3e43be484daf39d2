/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a thread was ready to run and had no CPU. A limit of time on a busy machine can leave this out: what waits for a CPU is
 * not slow. Reading takes no rights, but of other users' threads where /proc is mounted with hidepid.
 */
#ifndef SYSTEM_CPU_DELAY_H
#define SYSTEM_CPU_DELAY_H

#include <stdint.h>

#define CPU_DELAY_OWN "/proc/thread-self/schedstat"

struct cpu_delay {
	int fd; /* of schedstat; -1 = none: no delay is known */
	int64_t ns; /* at the last look */
};

/* `path` is that of a thread's schedstat. Close with cpu_delay_close. */
struct cpu_delay cpu_delay_open(const char *path);
void cpu_delay_close(struct cpu_delay *delay);

/* Nanoseconds since the thread's start. A thread that has ended has no more. */
int64_t cpu_delay_read(struct cpu_delay *delay);

#endif
