/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs a growing plan: when everything is probed, what was added since, and what cannot be probed,
 * each once.
 */
#ifndef COMMAND_PLAN_NOTICE_H
#define COMMAND_PLAN_NOTICE_H

#include "base/log.h"
#include "command/options.h"
#include "session/session.h"

struct plan_notice {
	const struct options *options;
	const struct log *log;
	/* Private; starts zeroed. */
	size_t printed_probes, printed_skipped; /* of the plan */
	bool warned_overlap; /* the warning about memory counted twice was given */
};

/* Log the line "ready". Shown even with -q, since scripts wait for it. */
void plan_notice_ready(struct plan_notice *notice, struct session *session);
/* Log what was added since the last call. */
void plan_notice_found(struct plan_notice *notice, struct session *session);

#endif
