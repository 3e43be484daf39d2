/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that keeps the caller's privileges of the time when it is started, for one act at the
 * end, when the caller has given its own up.
 */
#ifndef SYSTEM_HELPER_H
#define SYSTEM_HELPER_H

#include <stdbool.h>
#include <stddef.h>

/* {0} = there is none. */
struct helper {
	bool runs;
	int socket;
};

/* The process has its descriptors from this one on, in order, and no others. */
#define HELPER_FD 4
#define HELPER_FDS_MAX 4

/*
 * Start the process with copies of `fds`. It runs `act` once: `asked` when the caller asks for it,
 * or not, when the caller has ended without that. `act` has a copy of the caller's memory, and
 * returns 0 or a negative errno. Returns 0 or a negative errno; then there is no process.
 */
int helper_start(struct helper *helper, const int *fds, size_t count,
		 int (*act)(const void *context, bool asked), const void *context);

/*
 * Have it act, and wait until it has. Returns what `act` has, or a negative errno if the process is
 * gone. Returns 0 for {0}, which `helper` is afterwards.
 */
int helper_ask(struct helper *helper);

/* End it without having asked. Accepts {0}, which `helper` is afterwards. */
void helper_close(struct helper *helper);

#endif
