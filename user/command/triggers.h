/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What asks for reports on the way: readings of processes' memory on time, and the command that is run on a report. */
#ifndef COMMAND_TRIGGERS_H
#define COMMAND_TRIGGERS_H

#include "base/log.h"
#include "command/options.h"
#include "command/output.h"
#include "session/session.h"
#include "session/trigger.h"
#include "system/loop.h"
#include "system/oom_watch.h"
#include "system/runner.h"

/* Start with triggers_init. */
struct triggers {
	const struct options *options;
	const struct log *log;
	const struct session *session;
	struct trigger trigger;
	struct oom_watch oom;
	struct pid_list pids; /* that the last look found */
	uint64_t look_from_ns; /* CLOCK_MONOTONIC: no look before */
	struct runner runner;
	bool runs; /* the command does */
	bool waits; /* for its end, and the user knows it */
	struct watch on_time, on_end;
	/* Report, and call triggers_run when that is written. */
	void (*fire)(void *context, enum trigger_kind kind);
	void *context;
};

void triggers_init(struct triggers *triggers, const struct options *options, const struct log *log);

/*
 * What needs privileges. `path` is the file of reports, or with `recording` what the command is run on. It must stay, as `signals`, which
 * the command gets. Returns 0 or a negative errno with `error` filled.
 */
int triggers_prepare(struct triggers *triggers, const char *path, bool recording,
		     const struct spawn_signals *signals, struct error *error);

/* There is something to trace: look from now on, in `loop`. Returns 0 or a negative errno. */
int triggers_start(struct triggers *triggers, const struct session *session, struct loop *loop);

/* The user asks for a report: now, or when the command has ended. */
void triggers_ask(struct triggers *triggers);

/*
 * Make the file of a report that the command is run on: "PATH.1" and so on. Without a command, the `fd` of `output` is -1. Returns 0 or
 * a negative errno with `error` filled.
 */
int triggers_open_report(struct triggers *triggers, const char *path, struct output *output,
			 struct error *error);

/* Append what has fired, as a sentence without a full stop. */
void triggers_describe(const struct triggers *triggers, enum trigger_kind kind,
		       struct buffer *text);

/* The report is written: run the command, if there is one. */
void triggers_run(struct triggers *triggers, enum trigger_kind kind);

/*
 * Tracing is over: fire what has not fired yet, such as the kill that ended it. Waits for the command, unless the tracer is to
 * end.
 */
void triggers_finish(struct triggers *triggers);

/* Wait for the command, unless the tracer is to end; then it goes on alone. */
void triggers_close(struct triggers *triggers);

#endif
