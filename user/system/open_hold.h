/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds file opens for the tracer: the kernel holds a process that executes a program or opens a
 * library until the tracer has examined the file. Only the system call takes longer: no signal, no
 * stopped state, nothing that a parent could notice. When the tracer ends for any reason, the
 * kernel lets all of them continue.
 *
 * It affects one mount namespace, so no process outside waits. A dedicated thread lets data files
 * through, and programs and libraries known to contain nothing of interest.
 */
#ifndef SYSTEM_OPEN_HOLD_H
#define SYSTEM_OPEN_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct open_hold;

/* An ELF file that a process is opening; the process waits for the answer. */
struct held_open {
	uint64_t id;
	pid_t pid;
	bool exec; /* it is being executed, or is the interpreter of such a file */
	int fd; /* the file, readable; owned by the caller */
};

/*
 * Create; holds nothing yet. No process forked before open_hold_start returns may outlive the
 * tracer, or what is held would, too. Needs CAP_SYS_ADMIN. Returns 0, or a negative errno with
 * `error` filled.
 */
int open_hold_new(struct open_hold **ret_hold, struct error *error);

/*
 * Hold opens in the mount namespace of process `pid`, which must not be the tracer's own, on its
 * present mounts. Returns 0, or a negative errno with `error` filled.
 */
int open_hold_mark(struct open_hold *hold, pid_t pid, struct error *error);

/*
 * Start answering; needs no privilege from here on. Returns 0 or a negative errno with `error`
 * filled.
 */
int open_hold_start(struct open_hold *hold, struct error *error);

/* A descriptor that is readable when an open is waiting; owned by the hold. */
int open_hold_fd(const struct open_hold *hold);

/* Take the next waiting open; it must be answered. False if there is none. */
bool open_hold_take(struct open_hold *hold, struct held_open *ret_held);

/*
 * Let the process continue. With `skip`, later opens of the file by any process are not held until
 * the file is modified. If the tracer answers nothing for 10 seconds, waiting opens are let
 * through.
 */
void open_hold_answer(struct open_hold *hold, const struct held_open *held, bool skip);

/* Let everything continue, and stop holding. Accepts NULL. */
void open_hold_free(struct open_hold *hold);

#endif
