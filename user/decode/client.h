/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer's side of a worker: sends requests, opens the files that it lacks, ends it when it is
 * too slow or violates the protocol, and starts another one.
 */
#ifndef DECODE_CLIENT_H
#define DECODE_CLIENT_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "model/module.h"
#include "discover/debug_search.h"
#include "decode/fork_server.h"
#include "decode/patience.h"
#include "decode/protocol.h"

struct client {
	struct fork_server server;
	struct debug_search search;
	struct patience patience;
	/* Limit of one request, by the clock of patience.h, excluding opening files */
	int timeout_ms;
	int socket; /* -1 = no worker */
	bool indexed; /* search.directory was indexed */
	uint64_t fitted; /* debug files from there that matched */
	bool given_chosen; /* the last debug file passed is from there */
	/*
	 * Number of the last module in a request, if its last debug file was not found; else
	 * MODULE_NUMBER_NONE.
	 */
	uint32_t lacking;
};

/*
 * Start the fork server; the first request starts a worker. Once `is_over` (may be NULL) returns
 * true, requests fail at once. Returns 0 or a negative errno.
 */
int client_start(struct client *client, const struct debug_search *search, int timeout_ms,
		 bool (*is_over)(void));

/*
 * Name the instruction at `offset` of `module`, which the worker knows by its number. Calls `visit` for each function,
 * innermost first. Returns 0 or a negative errno: -ETIMEDOUT, -EPIPE (it crashed), -EPROTO (nonsense), after each of
 * which the worker is replaced; -ESRCH: none can be started any more; -EPERM: none can be confined; -ECANCELED: the tracer has to
 * end. `visit` may have been called by then.
 */
int client_lookup(struct client *client, const struct module *module, uint64_t offset,
		  void (*visit)(void *context, const struct message *symbol), void *context);

/* Have the worker read the build IDs in the directory of debug files. Later calls do nothing. */
void client_index(struct client *client);

/*
 * Have the worker do a job for the file of `module` (jobs.h). Returns as client_lookup; with 0, what the job returned is in
 * `*ret_result`, 0 or a negative errno, and its answer has been appended to `answer`.
 */
int client_read(struct client *client, const struct module *module, uint32_t job,
		const struct buffer *question, struct buffer *answer, int *ret_result);

/* The worker has sent a false answer: the next request starts another one. */
void client_distrust(struct client *client);

void client_stop(struct client *client);

#endif
