/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that may block in the kernel for as long as another process likes: the server of a file
 * system, or a userfaultfd handler. Such a wait cannot be interrupted, so a separate thread makes
 * the call, and is abandoned if it is late.
 */
#ifndef BASE_TIMED_CALL_H
#define BASE_TIMED_CALL_H

#include <stdint.h>

/*
 * Allocated by the caller, with the arguments and results of `run`; must not refer to anything that
 * may be freed meanwhile.
 */
struct timed_call {
	void (*run)(struct timed_call *call);
	void (*free)(struct timed_call *call); /* also releases the results of `run` */
};

/* How long calls of one kind may take, without what they wait for a CPU. Each late one halves the time of the next, so that many cost little. */
struct call_patience {
	uint64_t full_ns;
	unsigned int late; /* calls that were late so far */
};

/*
 * Make the call. Returns 0 if it has returned in time: the caller owns `call` again. Otherwise
 * -ETIMEDOUT, or the negative errno of a failed thread creation; then `call` is freed, or will be
 * as soon as it returns.
 */
int timed_call_run(struct timed_call *call, struct call_patience *patience);

#endif
