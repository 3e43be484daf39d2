/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects processes in which return probes do harm: they have a stack walker, or may switch stacks
 * where a return probe cannot be declined. The kernel takes a return probe for every link at an
 * instruction that asks for one, even a link for another process. So after the first such process,
 * the results of all processes are read at return instructions.
 */
#ifndef FOLLOW_RETURNS_H
#define FOLLOW_RETURNS_H

#include <stdbool.h>

#include "base/log.h"
#include "follow/probe_set.h"
#include "follow/process_table.h"

struct returns {
	struct probe_set *probes;
	const struct process_table *processes;
	const struct log *log;
	bool given_up; /* such a process was found */
};

/*
 * Call before files are planned. Decides whether return probes are certain to be taken, which makes
 * switching stacks a danger. If files are probed for all processes at once, uses no return probes
 * at all.
 */
void returns_note(const struct returns *returns);

/*
 * Call before files are probed in `process`. If return probes are a danger now, gives them up in
 * all processes.
 */
void returns_give_up(struct returns *returns, const struct process *process);

#endif
