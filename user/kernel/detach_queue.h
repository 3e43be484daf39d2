/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detaches probes in the background. The kernel makes the caller wait for all CPUs, tenths of a
 * second per process; a session that follows many short-lived processes cannot wait that long.
 */
#ifndef KERNEL_DETACH_QUEUE_H
#define KERNEL_DETACH_QUEUE_H

#include "kernel/attach.h"

struct detach_queue;

/* NULL if there can be no thread. Free with detach_queue_free. */
struct detach_queue *detach_queue_new(void);

/*
 * Take over the links of `attachment`, which is empty afterwards, and close them soon; at once if
 * `queue` is NULL.
 */
void detach_queue_add(struct detach_queue *queue, struct attachment *attachment);

/* Number of links not closed yet. Accepts NULL. */
size_t detach_queue_pending(struct detach_queue *queue);

/* Wait until all queued links are closed. Accepts NULL. */
void detach_queue_wait(struct detach_queue *queue);

/* The same, and ends the thread. */
void detach_queue_free(struct detach_queue *queue);

#endif
