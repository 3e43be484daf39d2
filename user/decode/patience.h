/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits how long the tracer waits for a worker that hangs or is kept busy by its file. Time in
 * which worker or tracer was runnable without a CPU does not count: a busy machine is not the
 * file's fault.
 */
#ifndef DECODE_PATIENCE_H
#define DECODE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpu_delay.h"

struct patience {
	bool (*is_over)(void); /* the tracer has to end soon; NULL = never */
	struct cpu_delay own, worker;
	int64_t past_ns; /* delay of earlier workers */
};

/* Open in the waiting thread. Close with patience_close. */
void patience_open(struct patience *patience, bool (*is_over)(void));
void patience_close(struct patience *patience);

/* Switch to a new worker: the only child of the process `server`. */
void patience_watch_child(struct patience *patience, pid_t server);

/* Milliseconds since some point in the past, excluding waits for a CPU. */
int64_t patience_now_ms(struct patience *patience);

/*
 * Wait until there is something to read, or patience_now_ms reaches the deadline. Returns 0 or a negative errno: -ETIMEDOUT,
 * -ECANCELED (the tracer has to end soon).
 */
int patience_wait(struct patience *patience, int socket, int64_t deadline_ms);

#endif
