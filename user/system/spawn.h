/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that is started but held just before its exec, until every probe is in. */
#ifndef SYSTEM_SPAWN_H
#define SYSTEM_SPAWN_H

#include <sys/types.h>

#include "base/error.h"

struct spawn {
	pid_t pid; /* 0 = none */
	int release; /* write end of the pipe that holds the child; -1 = released */
	int failure; /* read end: an errno arrives here if the exec fails */
	char *path; /* what will be exec'd: PATH searched */
};

/*
 * Fork a child that waits. It has its signal mask and dispositions as the tracer got them, and ends by itself
 * if the tracer dies before the release. `arguments` is NULL-terminated. Returns 0, or a negative errno with
 * `error` filled (ERROR_TARGET, command not found or not executable).
 */
int spawn_hold(struct spawn *spawn, char *const arguments[], struct error *error);

/* Let the child exec. Returns 0 once it has, or a negative errno with `error` filled if the exec failed. */
int spawn_release(struct spawn *spawn, struct error *error);

/* Has the child ended? Returns 1 with its wait status, 0 if it runs on. Reaps it. */
int spawn_poll(struct spawn *spawn, int *ret_status);

/* Ends a child that is still held; leaves one that runs alone. Accepts {0}. */
void spawn_free(struct spawn *spawn);

#endif
