/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up privileges once tracing has begun. */
#ifndef COMMAND_CONFINE_H
#define COMMAND_CONFINE_H

#include <stdbool.h>

#include "base/log.h"
#include "kernel/features.h"

/*
 * Install only the seccomp filter, for all threads and for good: it refuses calls that start
 * programs or change the system. Needs no_new_privs or CAP_SYS_ADMIN. Returns 0 or a negative
 * errno. Public for tests, which make calls under it with all capabilities.
 */
int confine_calls(bool servers);

/*
 * Call when files and BPF programs are open: gives up root for `user`, capabilities that later
 * probes do not need, and system calls that could start or change anything. `servers`: debug files
 * are fetched from debuginfod servers, which needs sockets and the user's cache. A capability or
 * call that cannot be given up is a warning; a user that cannot be changed is reported with -v.
 */
void confine_tracer(enum backend backend, bool servers, unsigned int user, const struct log *log);

#endif
