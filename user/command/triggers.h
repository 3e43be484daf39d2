/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers of reports: takes memory readings of processes periodically, and runs the command of
 * --exec on a report.
 */
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
	struct pid_list pids; /* processes of the last reading */
	uint64_t look_from_ns; /* CLOCK_MONOTONIC: no reading before this time */
	struct runner runner;
	bool runs; /* the command is running */
	bool waits; /* a report waits for its end; the user was informed */
	struct watch on_time, on_end;
	/* Make a report, and call triggers_run once it is written. */
	void (*fire)(void *context, enum trigger_kind kind);
	void *context;
};

void triggers_init(struct triggers *triggers, const struct options *options, const struct log *log);

/*
 * Do what needs privileges. `path` is the file of reports, or, with `recording`, the recording that
 * the command is run on. It must stay valid, and so must `signals`, which the command gets. Returns
 * 0 or a negative errno with `error` filled.
 */
int triggers_prepare(struct triggers *triggers, const char *path, bool recording,
		     const struct spawn_signals *signals, struct error *error);

/* Start taking readings, in `loop`. Returns 0 or a negative errno. */
int triggers_start(struct triggers *triggers, const struct session *session, struct loop *loop);

/* The user requests a report: now, or when the running command has ended. */
void triggers_ask(struct triggers *triggers);

/*
 * Create the file of a report that the command is run on: "PATH.1" and so on. Without a command,
 * sets the `fd` of `output` to -1. Returns 0 or a negative errno with `error` filled.
 */
int triggers_open_report(struct triggers *triggers, const char *path, struct output *output,
			 struct error *error);

/* Append what has fired, as a sentence without a full stop. */
void triggers_describe(const struct triggers *triggers, enum trigger_kind kind,
		       struct buffer *text);

/* The report is written: run the command, if there is one. */
void triggers_run(struct triggers *triggers, enum trigger_kind kind);

/*
 * Tracing is over: fire what has not fired yet, such as the kill that ended it. Waits for the
 * command, unless the tracer has to end.
 */
void triggers_finish(struct triggers *triggers);

/* Close. Waits for the command, unless the tracer has to end; then the command runs on alone. */
void triggers_close(struct triggers *triggers);

#endif
