/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is logged of a plan while it grows: that all is probed, what was found since, and what cannot be probed, each once. */
#ifndef COMMAND_PLAN_NOTICE_H
#define COMMAND_PLAN_NOTICE_H

#include "base/log.h"
#include "command/options.h"
#include "session/session.h"

struct plan_notice {
	const struct options *options;
	const struct log *log;
	/* The rest is its own; zero at first. */
	size_t printed_probes, printed_skipped; /* of the plan */
	bool warned_overlap; /* that memory may be counted twice */
};

/* Log the line "ready". Scripts wait for it, so -q does not silence it. */
void plan_notice_ready(struct plan_notice *notice, struct session *session);
/* Log what was found since the last call. */
void plan_notice_found(struct plan_notice *notice, struct session *session);

#endif
