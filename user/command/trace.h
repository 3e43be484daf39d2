/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of tracing, for the commands that it is a part of. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include "command/finder.h"
#include "command/options.h"
#include "command/recorder.h"
#include "command/server.h"
#include "command/viewer.h"
#include "command/watcher.h"

/* Who takes what is traced; without any of them, it is reports. Not owned. */
struct trace_taker {
	struct recorder *recorder;
	struct server *server;
	struct finder *finder;
	struct viewer *viewer;
	struct watcher *watcher;
};

/* Trace what `options` selects, for one of these. Returns the exit status. What follows are its cases (trace_taker.c). */
int trace_execute(const struct options *options, const struct log *log,
		  const struct trace_taker *taker);

/* Trace what `options` selects, and record it, or with NULL report. Returns the exit status. */
int trace_processes(const struct options *options, const struct log *log,
		    struct recorder *recorder);

/* The same, shown by `viewer`, which is open, until a key ends it. */
int trace_show(const struct options *options, const struct log *log, struct viewer *viewer);

/* The same, with reports for who asks `server`, which listens. It is closed then. */
int trace_serve(const struct options *options, const struct log *log, struct server *server);

/*
 * Trace what `options` selects, which is one process, and look for its lost blocks at the end, while it is still traced. The finder's
 * names are set; it is closed then.
 */
int trace_find(const struct options *options, const struct log *log, struct finder *finder);

/* The same, with verdicts until `watcher` is sure of them: within the budget, and of all calls where these cost less. */
int trace_watch_verdicts(const struct options *options, const struct log *log,
			 struct watcher *watcher);

#endif
