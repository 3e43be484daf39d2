/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first windows of a watch: they show what it would cost to trace all calls, and so whether windows are needed. */
#ifndef COMMAND_CHOICE_H
#define COMMAND_CHOICE_H

#include "session/session.h"

/*
 * Activate a session that traces in windows, and wait until these have shown the price, for some seconds, but no longer than a quarter of `duration_ns` (0 = any), or until `signals`, a descriptor, is readable
 * or the targets have ended. `*ret_all`: all calls cost less than the budget. Returns 0 or a negative errno with `error` filled.
 */
int choice_run(struct session *session, int signals, uint64_t duration_ns, bool *ret_all,
	       struct error *error);

#endif
