/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the processes that a trace would start with, for `tracer plan`. */
#ifndef COMMAND_CANDIDATES_H
#define COMMAND_CANDIDATES_H

#include "base/buffer.h"
#include "base/error.h"
#include "command/options.h"
#include "system/cgroup.h"

/*
 * Append the pids of the running processes that the options select; none for a command to start.
 * Returns 0, or a negative errno with `error` filled, also if the options select by a property and
 * no process has it.
 */
int candidates_find(const struct options *options, struct pid_list *list, struct error *error);

/* Append a table of processes; no line is wider than `width`. */
void candidates_describe(const struct pid_list *list, size_t width, struct buffer *out);

#endif
