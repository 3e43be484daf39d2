/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some registers of threads that wait in the kernel, as /proc shows them: where there is nothing better. */
#ifndef SYSTEM_THREAD_CALLS_H
#define SYSTEM_THREAD_CALLS_H

#include "system/thread_registers.h"

/* Append the stack pointers and arguments of all threads that wait. Of those that run, there is nothing. */
void thread_calls_read(const char *proc_root, pid_t pid, struct thread_registers_list *list);

/* Parse a text in the format of /proc/PID/task/TID/syscall; false if it has no registers. */
bool thread_calls_parse(const char *text, size_t length, struct thread_registers *ret_registers);

#endif
