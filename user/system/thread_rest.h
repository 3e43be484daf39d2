/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process was at rest: no thread of it ran between two moments, none was born, none has ended. */
#ifndef SYSTEM_THREAD_REST_H
#define SYSTEM_THREAD_REST_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

/*
 * What the kernel counts of each thread: its time on a CPU, its waits for one, how often it got one. Returns whether all of them
 * could be read, and none is running or ready to. Free `state` with buffer_free.
 */
bool thread_rest_read(const char *proc_root, pid_t pid, struct buffer *state);

/* Is each thread of it stopped, or where it stops before it goes on? False if that cannot be known. */
bool thread_rest_is_stopped(const char *proc_root, pid_t pid);

/* Is a thread of it stopped by a signal? False if there is no such process. */
bool thread_rest_is_held(const char *proc_root, pid_t pid);

/* Has no thread run between two reads that returned true? */
bool thread_rest_is_same(const struct buffer *before, const struct buffer *after);

#endif
