/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how long a thread was runnable without a CPU, so that time limits on a busy machine can
 * leave this out. Reading needs no privilege, except for other users' threads where /proc is
 * mounted with hidepid.
 */
#ifndef BASE_CPU_DELAY_H
#define BASE_CPU_DELAY_H

#include <stdint.h>

#define CPU_DELAY_OWN "/proc/thread-self/schedstat"

struct cpu_delay {
	int fd; /* schedstat; -1 = unavailable: no delay is known */
	int64_t ns; /* last reading */
};

/* `path` names a thread's schedstat. Close with cpu_delay_close. */
struct cpu_delay cpu_delay_open(const char *path);
void cpu_delay_close(struct cpu_delay *delay);

/*
 * Total delay in nanoseconds since the thread's start. After the thread has ended, its last
 * reading.
 */
int64_t cpu_delay_read(struct cpu_delay *delay);

#endif
