/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session options that follow from the command line. */
#ifndef COMMAND_SESSION_WANTED_H
#define COMMAND_SESSION_WANTED_H

#include "command/options.h"
#include "session/session.h"

/*
 * All session options except those that belong to a run: selector, marks, modules, decoder and
 * names. `options` must outlive the session.
 */
struct session_options session_wanted_of(const struct options *options, const struct log *log);

#endif
