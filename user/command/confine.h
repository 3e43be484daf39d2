/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracer gives up once it traces. */
#ifndef COMMAND_CONFINE_H
#define COMMAND_CONFINE_H

#include <stdbool.h>

#include "base/log.h"
#include "kernel/features.h"

/*
 * The filter alone: refuse what would start a program or change the system, for all threads and for good. Needs no_new_privs or
 * CAP_SYS_ADMIN. Returns 0 or a negative errno. For tests too, which make calls with all capabilities under it.
 */
int confine_calls(bool servers);

/*
 * Files and programs are open: give up root for `user`, capabilities that later probes do not need,
 * and system calls by which the tracer could start or change anything. `servers`: debug files are
 * fetched from servers, which takes connections and a user's folder. Capabilities and calls that
 * cannot be given up are a warning; that the user is kept is reported with -v.
 */
void confine_tracer(enum backend backend, bool servers, unsigned int user, const struct log *log);

#endif
