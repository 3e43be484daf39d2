/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call that may block in the kernel for as long as another process likes: the server of a file system, or a handler of
 * page faults by userfaultfd. Such a wait cannot be interrupted, so the call is made by a thread of its own, which is left
 * behind if it is late.
 */
#ifndef BASE_TIMED_CALL_H
#define BASE_TIMED_CALL_H

#include <stdint.h>

/* Allocated by the caller, with what `run` needs and fills in; it must refer to nothing that may go away meanwhile. */
struct timed_call {
	void (*run)(struct timed_call *call);
	void (*free)(struct timed_call *call); /* also undoes what `run` has done */
};

/* How long calls of one kind may take, without what they wait for a CPU. Each late one halves the time of the next, so that many cost little. */
struct call_patience {
	uint64_t full_ns;
	unsigned int late; /* calls that were late so far */
};

/*
 * Make the call. Returns 0 if it has returned in time: the call is the caller's again. Otherwise -ETIMEDOUT, or the
 * negative errno for which no thread could be started; then the call is gone, or freed as soon as it returns.
 */
int timed_call_run(struct timed_call *call, struct call_patience *patience);

#endif
