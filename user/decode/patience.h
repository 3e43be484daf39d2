/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the tracer waits for a worker. One that is hung or kept busy by its file gets a limited time. Time in which the
 * worker, or the tracer, was ready to run and had no CPU does not count: a busy machine is not the file's fault.
 */
#ifndef DECODE_PATIENCE_H
#define DECODE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/cpu_delay.h"

struct patience {
	bool (*is_over)(void); /* the tracer has to end soon; NULL = never */
	struct cpu_delay own, worker;
	int64_t past_ns; /* delay of earlier workers */
};

/* Call it in the thread that is going to wait. Close it with patience_close. */
void patience_open(struct patience *patience, bool (*is_over)(void));
void patience_close(struct patience *patience);

/* The worker is a new one: the only child of the process `server`. */
void patience_watch_child(struct patience *patience, pid_t server);

/* Milliseconds since some point in the past, without those that do not count. */
int64_t patience_now_ms(struct patience *patience);

/*
 * Wait until there is something to read, or patience_now_ms reaches the deadline. Returns 0 or a negative errno: -ETIMEDOUT,
 * -ECANCELED (the tracer has to end soon).
 */
int patience_wait(struct patience *patience, int socket, int64_t deadline_ms);

#endif
