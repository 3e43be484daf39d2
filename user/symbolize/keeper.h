/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small process that starts workers. It is forked early, when the tracer holds no probes, maps or threads yet, and
 * gives up its privileges at once; so a worker that is started late, in place of one that crashed, has never had
 * anything of the tracer's.
 */
#ifndef SYMBOLIZE_KEEPER_H
#define SYMBOLIZE_KEEPER_H

#include <sys/types.h>

struct keeper {
	pid_t pid; /* 0 = none */
	int socket; /* -1 = none */
};

/*
 * Fork the keeper. Each worker that it starts calls `work` with its end of a socket pair. Call it from the main
 * thread: the keeper ends with the thread that started it. Returns 0 or a negative errno.
 */
int keeper_start(struct keeper *keeper, void (*work)(int socket));

/*
 * End the present worker, if there is one, and start another. Returns the tracer's end of its socket pair,
 * or a negative errno (the keeper is gone).
 */
int keeper_renew(struct keeper *keeper, pid_t *ret_pid);

/* End the worker and the keeper. */
void keeper_stop(struct keeper *keeper);

#endif
