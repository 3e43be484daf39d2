/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the first windows of a watch, which show what tracing all calls would cost, and so whether
 * windows are needed.
 */
#ifndef COMMAND_CHOICE_H
#define COMMAND_CHOICE_H

#include "session/session.h"

/*
 * Activate a session that traces in windows, and wait a few seconds until these have shown the
 * price; at most a quarter of `duration_ns` (0 = no limit), and only until the descriptor `signals`
 * becomes readable or the targets end. `*ret_all`: tracing all calls costs less than the budget.
 * Returns 0 or a negative errno with `error` filled.
 */
int choice_run(struct session *session, int signals, uint64_t duration_ns, bool *ret_all,
	       struct error *error);

#endif
