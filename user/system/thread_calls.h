/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some registers of threads that wait in the kernel, from /proc: the fallback without a BPF
 * iterator.
 */
#ifndef SYSTEM_THREAD_CALLS_H
#define SYSTEM_THREAD_CALLS_H

#include "system/thread_registers.h"

/*
 * Append the stack pointers and system call arguments of all waiting threads. Running threads are
 * missing.
 */
void thread_calls_read(const char *proc_root, pid_t pid, struct thread_registers_list *list);

/* Parse a text of /proc/PID/task/TID/syscall; false if it has no registers. */
bool thread_calls_parse(const char *text, size_t length, struct thread_registers *ret_registers);

#endif
