/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a command, held just before its exec until every probe is attached. */
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
	int release; /* socket whose other end holds the child; -1 = released */
	int failure; /* read end of a pipe: receives an errno if the exec fails */
	char *path; /* file to execute, found by PATH */
	bool gone; /* released to exec */
	bool ended; /* reaped */
	int status; /* wait status, when ended; -1 = unknown */
	/*
	 * Set before spawn_hold if the caller has changed signals since its start; must outlive
	 * that call.
	 */
	const struct spawn_signals *signals;
	/* User to run as, for user_find; NULL = the caller. Set before spawn_hold. */
	const char *user;
	/*
	 * Replace its standard descriptors by /dev/null where they are a terminal, which somebody
	 * else draws on. Set before spawn_hold.
	 */
	bool no_terminal;
};

/*
 * Save the signal state inherited at program start; call before any signal is blocked, ignored or
 * handled.
 */
void spawn_signals_save(struct spawn_signals *ret_signals);

/*
 * Restore it in a forked process, in which all signals are blocked, so that none of its parent's
 * handlers runs there.
 */
void spawn_signals_restore(const struct spawn_signals *signals);

/*
 * The file that execvp would run for `command`, searching PATH. Free with free(). NULL with `error`
 * filled if there is none (ERROR_NOT_FOUND), or none is executable (ERROR_NOT_EXECUTABLE).
 */
char *spawn_find(const char *command, struct error *error);

/*
 * Fork a child that waits. Its signal mask and dispositions are those that the tracer inherited
 * (`signals`, or else the present ones, without handlers). It ends if the tracer dies before the
 * release, runs as the caller's user until then, and passes on no ambient or inheritable
 * capabilities. `arguments` is NULL-terminated. If the caller ignores SIGCHLD, this restores the
 * default, since the exit status would be lost. Returns 0, or a negative errno with `error` filled
 * (ERROR_NOT_FOUND, ERROR_NOT_EXECUTABLE: as of spawn_find; ERROR_USAGE: no such user).
 */
int spawn_hold(struct spawn *spawn, char *const arguments[], struct error *error);

/*
 * Give a held child its own mount namespace: a copy with the same mount propagation. Returns 0 or a
 * negative errno; the child is unchanged then.
 */
int spawn_set_apart(struct spawn *spawn);

/*
 * Let the child exec, without waiting. Call spawn_release once `failure` is readable; where the
 * exec does not wait for the tracer, spawn_release alone is enough.
 */
void spawn_let_go(struct spawn *spawn);

/*
 * Let the child exec, and wait for it. Returns 0 once it has, or a negative errno with `error`
 * filled if it could not change the user (ERROR_PERMISSION), the exec failed (ERROR_NOT_FOUND,
 * ERROR_NOT_EXECUTABLE), or the child ended before it (ERROR_TARGET). A file of unknown format is
 * run by /bin/sh, as execvp does.
 */
int spawn_release(struct spawn *spawn, struct error *error);

/*
 * Has the child ended? Returns 1 with its wait status (-1 if someone else has reaped it), 0 if it
 * still runs. Reaps it; may be called again.
 */
int spawn_poll(struct spawn *spawn, int *ret_status);

/* End a child that is still held; a running one continues. Accepts {0}. */
void spawn_free(struct spawn *spawn);

#endif
