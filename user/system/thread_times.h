/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much CPU time the threads of processes have used since a moment. Of a thread that runs right now the kernel has it up to its last
 * tick.
 */
#ifndef SYSTEM_THREAD_TIMES_H
#define SYSTEM_THREAD_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_time;

/* Begins zeroed. Free with thread_times_free. */
struct thread_times {
	struct thread_time *items;
	size_t count, capacity;
	bool cut; /* there were more threads than are kept */
};

/* Keep the CPU time that each thread of a process has used so far. */
void thread_times_read(struct thread_times *times, pid_t pid);

/*
 * Nanoseconds that a thread of a process has used since then; since its start, if it has begun later. 0: not known, since there is
 * no such thread in that process, or the kernel does not count.
 */
uint64_t thread_times_since(const struct thread_times *times, pid_t pid, pid_t thread);

void thread_times_free(struct thread_times *times);

#endif
