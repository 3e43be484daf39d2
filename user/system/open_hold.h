/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens of files that wait for the tracer: a process that executes a program, or opens a library, is held by the kernel
 * until the file has been looked at. Nothing but the system call takes longer: no signal, no stopped state, nothing
 * that a parent could notice. When the tracer ends, however it ends, the kernel lets all of them go on.
 *
 * It concerns one mount namespace, so no process outside waits. Data files, and programs and libraries of which the
 * tracer knows that they hold nothing of interest, are let through by a thread that does nothing else.
 */
#ifndef SYSTEM_OPEN_HOLD_H
#define SYSTEM_OPEN_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct open_hold;

/* An ELF file that a process is opening. The process waits for the answer. */
struct held_open {
	uint64_t id;
	pid_t pid;
	bool exec; /* it is the program that it executes, or that one's interpreter */
	int fd; /* the file, for reading; the caller's */
};

/*
 * Nothing is held yet. No process that is forked before open_hold_start returns may run longer than the tracer, or what is
 * held would outlive it. Needs CAP_SYS_ADMIN. Returns 0, or a negative errno with `error` filled.
 */
int open_hold_new(struct open_hold **ret_hold, struct error *error);

/*
 * Have opens held in the mount namespace of the process `pid`, which must be another one than the tracer's: on the mounts
 * that it has now. Returns 0, or a negative errno with `error` filled.
 */
int open_hold_mark(struct open_hold *hold, pid_t pid, struct error *error);

/* Begin to answer; no privilege is needed any more. Returns 0 or a negative errno with `error` filled. */
int open_hold_start(struct open_hold *hold, struct error *error);

/* A descriptor that is readable when open_hold_take has something. It stays the hold's. */
int open_hold_fd(const struct open_hold *hold);

/* The next open that waits. False if there is none. Each that is taken must be answered. */
bool open_hold_take(struct open_hold *hold, struct held_open *ret_held);

/*
 * Let the process go on. With `skip`, later opens of the file, by any process, are not held until the file is
 * modified. Opens that the tracer has left waiting for 10 seconds, without an answer to any, have been let through.
 */
void open_hold_answer(struct open_hold *hold, const struct held_open *held, bool skip);

/* Let everything go on and hold nothing any more. Accepts NULL. */
void open_hold_free(struct open_hold *hold);

#endif
