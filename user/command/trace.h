/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of tracing, shared by all commands that trace. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include "command/finder.h"
#include "command/options.h"
#include "command/recorder.h"
#include "command/server.h"
#include "command/viewer.h"
#include "command/watcher.h"

/* Who takes the results of a trace: one of these, or the reporter if all are NULL. Not owned. */
struct trace_taker {
	struct recorder *recorder;
	struct server *server;
	struct finder *finder;
	struct viewer *viewer;
	struct watcher *watcher;
};

/*
 * Trace what `options` select. Returns the exit status. The functions below are its cases
 * (trace_taker.c).
 */
int trace_execute(const struct options *options, const struct log *log,
		  const struct trace_taker *taker);

/*
 * Trace what `options` select and record it, or report if `recorder` is NULL. Returns the exit
 * status.
 */
int trace_processes(const struct options *options, const struct log *log,
		    struct recorder *recorder);

/* Trace and show the results in `viewer`, which is open, until a key ends it. */
int trace_show(const struct options *options, const struct log *log, struct viewer *viewer);

/* Trace and serve reports through `server`, which listens; closes it. */
int trace_serve(const struct options *options, const struct log *log, struct server *server);

/*
 * Trace one process and, while it is still traced, find its lost blocks at the end. The finder's
 * names must be set; closes the finder.
 */
int trace_find(const struct options *options, const struct log *log, struct finder *finder);

/*
 * Trace until `watcher` is sure of its verdicts: within the budget, or all calls if these cost
 * less.
 */
int trace_watch_verdicts(const struct options *options, const struct log *log,
			 struct watcher *watcher);

#endif
