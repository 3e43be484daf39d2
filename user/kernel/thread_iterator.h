/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of all threads of a process, by a BPF iterator: Linux 5.15. Nothing is stopped. */
#ifndef KERNEL_THREAD_ITERATOR_H
#define KERNEL_THREAD_ITERATOR_H

#include "system/thread_registers.h"

struct thread_iterator;

/*
 * `pid` is in the tracer's own pid namespace. Needs privileges only here; can then be read `reads`
 * times. Returns 0, or a negative errno if the kernel has no such iterator or refuses it. Free with
 * thread_iterator_free.
 */
int thread_iterator_open(pid_t pid, size_t reads, struct thread_iterator **ret_iterator);
/* Accepts NULL. */
void thread_iterator_free(struct thread_iterator *iterator);

/* Append the present registers of all threads. False if there are none, or after `reads` calls. */
bool thread_iterator_read(struct thread_iterator *iterator, struct thread_registers_list *list);

#endif
