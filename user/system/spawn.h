/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that is started but held just before its exec, until every probe is in. */
#ifndef SYSTEM_SPAWN_H
#define SYSTEM_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The signal state that exec preserves. */
struct spawn_signals {
	sigset_t mask;
	sigset_t ignored;
};

/* Start with {0}. */
struct spawn {
	pid_t pid; /* 0 = none */
	int release; /* our end of the socket that holds the child; -1 = released */
	int failure; /* read end of a pipe: an errno arrives here if the exec fails */
	char *path; /* what will be exec'd: PATH searched */
	bool gone; /* it has been released to exec */
	bool ended; /* it has been reaped */
	int status; /* wait status, when ended; -1 = unknown */
	/* Set it before spawn_hold if the caller changed signals since its start; must outlive that call. */
	const struct spawn_signals *signals;
	/* Whom the command runs as, for user_find; NULL = the caller; set it before, too. */
	const char *user;
	/* Those of its standard descriptors that are a terminal are /dev/null: somebody else draws on it. Set it before, too. */
	bool no_terminal;
};

/* What the calling program got at its start; to be called before it blocks, ignores or handles a signal. */
void spawn_signals_save(struct spawn_signals *ret_signals);

/* Give a forked process these, in which all signals are blocked, so that no handler of its parent runs in it. */
void spawn_signals_restore(const struct spawn_signals *signals);

/*
 * The file that execvp would take for `command`: PATH searched. Free with free(). NULL with `error` (ERROR_TARGET)
 * filled if there is none, or none that may be executed.
 */
char *spawn_find(const char *command, struct error *error);

/*
 * Fork a child that waits. It has its signal mask and dispositions as the tracer got them (`signals`, or else as
 * they are now, without handlers), and ends by itself if the tracer dies before the release. It is the caller's user until
 * the release, and hands on no ambient or inheritable capabilities. `arguments` is
 * NULL-terminated. A caller that ignores SIGCHLD stops doing so: it could not learn
 * the exit status. Returns 0, or a negative errno with `error` filled (ERROR_TARGET, command not found
 * or not executable; ERROR_USAGE, no such user).
 */
int spawn_hold(struct spawn *spawn, char *const arguments[], struct error *error);

/*
 * Give a held child a mount namespace of its own: a copy, with which mounts are shared as they were shared with others
 * before. Returns 0 or a negative errno; the child is as it was then.
 */
int spawn_set_apart(struct spawn *spawn);

/*
 * Have the child exec, without waiting for it. spawn_release must follow when `failure` is readable; where the exec does
 * not wait for the tracer, that may be called alone.
 */
void spawn_let_go(struct spawn *spawn);

/*
 * Let the child exec. Returns 0 once it has, or a negative errno with `error` filled if it could not become the user, the
 * exec failed or the child ended before it. A file in no known format is run by /bin/sh, as execvp does.
 */
int spawn_release(struct spawn *spawn, struct error *error);

/*
 * Has the child ended? Returns 1 with its wait status (-1 if someone else has reaped it), 0 if it runs on. Reaps it;
 * may be called again.
 */
int spawn_poll(struct spawn *spawn, int *ret_status);

/* Ends a child that is still held; leaves one that runs alone. Accepts {0}. */
void spawn_free(struct spawn *spawn);

#endif
