/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of all threads of a process, by a BPF iterator: Linux 5.15. Nothing is stopped. */
#ifndef KERNEL_THREAD_ITERATOR_H
#define KERNEL_THREAD_ITERATOR_H

#include "system/thread_registers.h"

struct thread_iterator;

/*
 * `pid` is as the tracer's own pid namespace has it. All that needs a privilege is done here; it can be read `reads` times. Returns 0, or a negative errno if the kernel has no such iterator or
 * does not permit it. Free with thread_iterator_free.
 */
int thread_iterator_open(pid_t pid, size_t reads, struct thread_iterator **ret_iterator);
/* Accepts NULL. */
void thread_iterator_free(struct thread_iterator *iterator);

/* Append the registers of all threads, as of now. False if there are none, or it was read often enough. */
bool thread_iterator_read(struct thread_iterator *iterator, struct thread_registers_list *list);

#endif
