/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes probes out beside everything else. The kernel lets whoever takes one out wait for all CPUs, tenths of a second
 * for a process; a session that follows many short-lived processes cannot wait that long.
 */
#ifndef KERNEL_DETACH_QUEUE_H
#define KERNEL_DETACH_QUEUE_H

#include "kernel/attach.h"

struct detach_queue;

/* NULL if there can be no thread. Free with detach_queue_free. */
struct detach_queue *detach_queue_new(void);

/* Take over the links of `attachment`, which is empty then, and close them soon; at once if `queue` is NULL. */
void detach_queue_add(struct detach_queue *queue, struct attachment *attachment);

/* Links that are yet to be closed. Accepts NULL. */
size_t detach_queue_pending(struct detach_queue *queue);

/* Returns when all links that it was given are closed. Accepts NULL. */
void detach_queue_wait(struct detach_queue *queue);

/* The same, and ends the thread. */
void detach_queue_free(struct detach_queue *queue);

#endif
