/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer's side of the symbolizing worker: asks it, opens the files that it lacks, ends it when it takes too
 * long or talks nonsense, and starts another one.
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
	int timeout_ms; /* for one question, by the clock of patience.h, without the time it takes to open files */
	int socket; /* -1 = no worker */
	bool indexed; /* what is in search.directory has been looked at */
	uint64_t fitted; /* debug files from there that were not refused */
	bool given_chosen; /* the debug file that was given last is from there */
	/* The number of the module that was last asked about, if its last debug file was nowhere; else MODULE_NUMBER_NONE. */
	uint32_t lacking;
};

/*
 * Starts the fork server; a worker is started with the first question. When `is_over` (may be NULL) begins to return true,
 * questions are not waited for any more. Returns 0 or a negative errno.
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

/* Have the worker read the build IDs of what is in the directory of debug files. Once: later calls do nothing. */
void client_index(struct client *client);

/*
 * Have the worker do a job for the file of `module` (jobs.h). Returns as client_lookup; with 0, what the job returned is in
 * `*ret_result`, 0 or a negative errno, and its answer has been appended to `answer`.
 */
int client_read(struct client *client, const struct module *module, uint32_t job,
		const struct buffer *question, struct buffer *answer, int *ret_result);

/* The worker has lied: the next question goes to another one. */
void client_distrust(struct client *client);

void client_stop(struct client *client);

#endif
