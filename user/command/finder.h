/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lost blocks of one process, with or without a trace, and writes the report. Does not
 * decide when.
 */
#ifndef COMMAND_FINDER_H
#define COMMAND_FINDER_H

#include "analyze/suppression.h"
#include "command/ending.h"
#include "command/exit_status.h"
#include "command/options.h"
#include "command/output.h"
#include "kernel/thread_iterator.h"
#include "memory/leaks_look.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"
#include "system/file_swap.h"

struct finder {
	const struct options *options; /* not owned, like the next ones */
	const struct log *log;
	struct session *session; /* the trace that has seen allocations; NULL = none */
	struct symbolizer *symbolizer; /* of the trace, or NULL */
	pid_t pid;
	struct output output;
	bool color;
	struct thread_iterator *iterator; /* NULL = the kernel has none */
	struct name_reader *names;
	struct suppressions suppressions; /* owned */
	struct buffer before; /* the file of --since; owned */
	struct output save; /* the file of --save */
	/*
	 * The stopped end of a command, which is continued before the report is written; NULL =
	 * none.
	 */
	struct ending *ending;
	struct file_swap swap; /* replaces the file of --save */
	struct watchdog pause; /* stops the process for a pass; with --pause */
	enum exit_finding finding; /* are there reported blocks that the exit status is about? */
};

/*
 * Do all that needs privileges or opens files. Returns 0 or a negative errno with `error` filled.
 */
int finder_open(struct finder *finder, const struct options *options, pid_t pid,
		const struct log *log, struct error *error);

/*
 * Search and write the report; ends the recording of a trace. The search stops early when `is_over`
 * returns true. Returns 0 or a negative errno with `error` filled.
 */
int finder_run(struct finder *finder, bool (*is_over)(void), struct error *error);

/*
 * Returns 0, or a negative errno with `error` filled if the output could not be saved. Accepts one
 * that was not opened.
 */
int finder_close(struct finder *finder, struct error *error);

#endif
