/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches and detaches probes where SIGKILL cannot interrupt the kernel.
 *
 * Both write into the code of a process. A task with a pending SIGKILL may not access another
 * process's pages: the kernel gives up, logs "failed to unregister, leaking uprobe", and leaves the
 * breakpoint in the code and its own record in memory for good. An exiting task has no pending
 * signal any more. So:
 *
 * - a short-lived process attaches probes; a SIGKILL for the tracer does not reach it;
 *
 * - processes that exit with the last descriptors detach them, where no signal counts.
 */
#ifndef KERNEL_LINK_TASK_H
#define KERNEL_LINK_TASK_H

#include <stddef.h>

/*
 * Run `work` in a process that shares memory and descriptors with this one; the calling thread
 * waits. Descriptors that it opens are ours, or are closed at its end if we are killed meanwhile.
 * `work` may only make system calls: no memory allocation, no locks. Returns its result. If no
 * process can be created, runs it here.
 */
int link_task_run(int (*work)(void *context), void *context);

/* Close descriptors of links, all at once; returns when the kernel has removed their probes. */
void link_task_close(const int *fds, size_t count);

/*
 * The same in two steps: after the first, the links are no longer ours and their probes are being
 * removed; the second waits for that. With very many links, some are removed when the first
 * returns. No links give NULL, which the second accepts.
 */
struct link_closing *link_task_close_begin(const int *fds, size_t count);
void link_task_close_end(struct link_closing *closing);

#endif
