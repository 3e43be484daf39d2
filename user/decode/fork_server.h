/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small process that starts workers. It is forked early, when the tracer holds no probes, maps or threads yet, and
 * gives up its privileges at once; so a worker that is started late, in place of one that crashed, has never had
 * anything of the tracer's.
 */
#ifndef DECODE_FORK_SERVER_H
#define DECODE_FORK_SERVER_H

#include <sys/types.h>

struct fork_server {
	pid_t pid; /* 0 = none */
	int socket; /* -1 = none */
};

/*
 * Fork the server. Each worker that it starts calls `work` with its end of a socket pair. Call it from the main
 * thread: the fork server ends with the thread that started it. Returns 0 or a negative errno.
 */
int fork_server_start(struct fork_server *server, void (*work)(int socket));

/*
 * End the present worker, if there is one, and start another. Returns the tracer's end of its socket pair,
 * or a negative errno (the fork server is gone).
 */
int fork_server_renew(struct fork_server *server, pid_t *ret_pid);

/* End the worker and the fork server. */
void fork_server_stop(struct fork_server *server);

#endif
