/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of tracing, for the commands that it is a part of. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include "command/options.h"
#include "command/recorder.h"

/* Trace what `options` selects, and record it, or with NULL report. Returns the exit status. */
int trace_processes(const struct options *options, const struct log *log,
		    struct recorder *recorder);

#endif
