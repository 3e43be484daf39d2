/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces the kernel's own memory: --kernel of `tracer` and `tracer record`. */
#ifndef COMMAND_KERNEL_TRACE_H
#define COMMAND_KERNEL_TRACE_H

#include "command/options.h"
#include "command/recorder.h"

/* Trace and report, or record if `recorder` is not NULL. Returns the exit status. */
int kernel_trace_run(const struct options *options, const struct log *log,
		     struct recorder *recorder);

#endif
