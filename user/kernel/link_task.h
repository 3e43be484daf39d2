/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting probes in and taking them out where SIGKILL cannot interrupt it.
 *
 * The kernel writes into the code of a process to do either. A task with a pending SIGKILL may not touch another
 * process's pages: the kernel gives up, logs "failed to unregister, leaking uprobe" and leaves the breakpoint in the
 * code and its own record in memory, for good. A task that exits has no pending signal any more. So:
 * - probes are put in by a short-lived process, which a SIGKILL for the tracer does not reach;
 * - they are taken out by processes that exit with the last descriptors, where no signal counts.
 */
#ifndef KERNEL_LINK_TASK_H
#define KERNEL_LINK_TASK_H

#include <stddef.h>

/*
 * Run `work` in a process that shares memory and descriptors with this one; the calling thread waits. Descriptors that
 * it opens are ours, or closed at its end if we are killed meanwhile. `work` makes system calls only: it must not
 * allocate memory or take locks. Returns what it returns. Where there can be no process, it runs here.
 */
int link_task_run(int (*work)(void *context), void *context);

/* Close descriptors of links, all at the same time; returns when the kernel has taken their probes out. */
void link_task_close(const int *fds, size_t count);

/*
 * The same in two parts: after the first, the links are ours no more, and their probes are being taken out; the second returns
 * when they are. Of very many, some are out when the first returns. No links give NULL, which the second accepts.
 */
struct link_closing *link_task_close_begin(const int *fds, size_t count);
void link_task_close_end(struct link_closing *closing);

#endif
