/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes in which return probes do harm: they have a stack walker, or may switch stacks where a
 * return probe cannot be declined. The kernel takes one for each link at the same instruction that
 * asks for it, even if the link is for another process. So once there is such a process, the
 * results of all are read at return instructions.
 */
#ifndef SESSION_RETURNS_H
#define SESSION_RETURNS_H

#include <stdbool.h>

#include "base/log.h"
#include "session/probe_set.h"
#include "session/process_table.h"

struct returns {
	struct probe_set *probes;
	const struct process_table *processes;
	const struct log *log;
	bool given_up; /* a process has a stack walker, or may switch stacks */
};

/*
 * Files are going to be planned: are return probes certain to be taken, so that switching stacks is a danger? If they are for all
 * processes of the machine, too, there are none.
 */
void returns_note(const struct returns *returns);

/* Files are going to be probed in `process`. If return probes are a danger now, there are none any more in any process. */
void returns_give_up(struct returns *returns, const struct process *process);

#endif
