/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks for the lost blocks of one process, with or without a trace, and writes the report; not when. */
#ifndef COMMAND_FINDER_H
#define COMMAND_FINDER_H

#include "analyze/suppression.h"
#include "command/ending.h"
#include "command/options.h"
#include "command/output.h"
#include "kernel/thread_iterator.h"
#include "memory/leaks_look.h"
#include "session/session.h"
#include "symbolize/symbolizer.h"
#include "system/file_swap.h"

struct finder {
	const struct options *options; /* not owned, as the next ones */
	const struct log *log;
	struct session *session; /* that has seen allocations; NULL = nothing is traced */
	struct symbolizer *symbolizer; /* of what is traced, or NULL */
	pid_t pid;
	struct output output;
	bool color;
	struct thread_iterator *iterator; /* NULL = the kernel has none */
	struct name_reader *names;
	struct suppressions suppressions; /* owned */
	struct buffer before; /* the file of --since; owned */
	struct output save; /* the file of --save */
	/* Of a command that is stopped there; it goes on before the report is written. NULL = none is. */
	struct ending *ending;
	struct file_swap swap; /* which has the file of --save */
	struct watchdog pause; /* that stops the process for a pass; of --pause */
	bool has_leaks; /* the report has blocks for which the exit status is 1 */
};

/* All that needs a privilege or opens a file. Returns 0 or a negative errno with `error` filled. */
int finder_open(struct finder *finder, const struct options *options, pid_t pid,
		const struct log *log, struct error *error);

/*
 * Look, and write the report; recording ends then, where there is a trace. The look ends early when `is_over` returns true. Returns 0 or a
 * negative errno with `error` filled.
 */
int finder_run(struct finder *finder, bool (*is_over)(void), struct error *error);

/* Returns 0, or a negative errno with `error` filled if the output could not be kept. Accepts one that was not opened. */
int finder_close(struct finder *finder, struct error *error);

#endif
