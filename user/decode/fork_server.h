/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small process that starts workers. It is started early, executes the program anew, and drops
 * its privileges at once. So a worker, even a replacement for a crashed one, inherits nothing from
 * the tracer: not its memory, environment or addresses.
 */
#ifndef DECODE_FORK_SERVER_H
#define DECODE_FORK_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "decode/patience.h"

struct fork_server {
	pid_t pid; /* 0 = none */
	int socket; /* -1 = none */
	uint64_t memory; /* bytes of data that a worker may have */
};

/*
 * Call first in main(), also in tests: if the program was executed as a fork server, runs it and
 * does not return. Each worker calls `work` with its end of a socket pair.
 */
void fork_server_main(char *const *arguments, void (*work)(int socket));

/*
 * Start the server. Call it from the main thread: the server ends with the thread that started it. Returns 0 or a
 * negative errno.
 */
int fork_server_start(struct fork_server *server);

/*
 * End the present worker, if there is one, and start another. Returns the tracer's end of its socket pair,
 * or a negative errno: -EPERM (a worker cannot be confined here, so none is started), -ECANCELED (the tracer
 * has to end), or the server is gone. The patience is for the new worker from now on.
 */
int fork_server_renew(struct fork_server *server, struct patience *patience);

/* End the worker and the server. Does not wait for long: a stopped server ends with the tracer. */
void fork_server_stop(struct fork_server *server);

#endif
