/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects whether a process was at rest between two moments: no thread ran, was born or ended. */
#ifndef SYSTEM_THREAD_REST_H
#define SYSTEM_THREAD_REST_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"

/*
 * Read the kernel's counters of each thread: time on a CPU, waits for one, and how often it got
 * one. Returns true if all could be read and no thread is running or runnable. Free `state` with
 * buffer_free.
 */
bool thread_rest_read(const char *proc_root, pid_t pid, struct buffer *state);

/* Is each thread stopped, or about to stop before it returns to user space? False if unknown. */
bool thread_rest_is_stopped(const char *proc_root, pid_t pid);

/* Is any thread stopped by a signal? False if there is no such process. */
bool thread_rest_is_held(const char *proc_root, pid_t pid);

/* Has no thread run between two reads that returned true? */
bool thread_rest_is_same(const struct buffer *before, const struct buffer *after);

#endif
