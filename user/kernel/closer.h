/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes probes out beside everything else. The kernel lets whoever takes one out wait for all CPUs, tenths of a second
 * for a process; a session that follows many short-lived processes cannot wait that long.
 */
#ifndef KERNEL_CLOSER_H
#define KERNEL_CLOSER_H

#include "kernel/attach.h"

struct closer;

/* NULL if there can be no thread. Free with closer_free. */
struct closer *closer_new(void);

/* Take over the links of `attachment`, which is empty then, and close them soon; at once if `closer` is NULL. */
void closer_add(struct closer *closer, struct attachment *attachment);

/* Links that are yet to be closed. Accepts NULL. */
size_t closer_pending(struct closer *closer);

/* Returns when all links that it was given are closed. Accepts NULL. */
void closer_wait(struct closer *closer);

/* The same, and ends the thread. */
void closer_free(struct closer *closer);

#endif
