/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time in which a thread must not wait for a CPU: it runs before all that has an ordinary priority (SCHED_FIFO, the lowest of the
 * real-time priorities).
 */
#ifndef SYSTEM_URGENCY_H
#define SYSTEM_URGENCY_H

#include <stdbool.h>

/*
 * Let this process take that priority later, when it has given its privileges up: RLIMIT_RTPRIO, which processes that it starts from
 * then on have, too. Takes CAP_SYS_RESOURCE if the limit is 0. Returns 0 or a negative errno.
 */
int urgency_allow(void);

/*
 * The calling thread, and processes that it starts, have the priority from now on; the processes keep it. False if that is refused:
 * nothing has changed then.
 */
bool urgency_begin(void);

/* The ordinary priority again; after a urgency_begin that was true. */
void urgency_end(void);

#endif
