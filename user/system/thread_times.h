/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU time that threads have used since a moment. For a running thread the kernel's figure ends at
 * its last tick.
 */
#ifndef SYSTEM_THREAD_TIMES_H
#define SYSTEM_THREAD_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_time;

/* Start zeroed. Free with thread_times_free. */
struct thread_times {
	struct thread_time *items;
	size_t count, capacity;
	bool cut; /* there were more threads than the limit */
};

/* Record the CPU time of each thread of a process. */
void thread_times_read(struct thread_times *times, pid_t pid);

/*
 * CPU time in nanoseconds that a thread has used since thread_times_read, or since its later start.
 * 0 = unknown: the process has no such thread, or the kernel does not count.
 */
uint64_t thread_times_since(const struct thread_times *times, pid_t pid, pid_t thread);

void thread_times_free(struct thread_times *times);

#endif
