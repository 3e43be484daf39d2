/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that would be traced, before they are: for plan. */
#ifndef COMMAND_CANDIDATES_H
#define COMMAND_CANDIDATES_H

#include "base/buffer.h"
#include "base/error.h"
#include "command/options.h"
#include "system/cgroup.h"

/*
 * Append the processes that the options mean and that run now, by pid; with a command to start there are none. Returns 0, or
 * a negative errno with `error` filled, also if options select and nothing meets them.
 */
int candidates_find(const struct options *options, struct pid_list *list, struct error *error);

/* Append a table of processes; no line is wider than `width`. */
void candidates_describe(const struct pid_list *list, size_t width, struct buffer *out);

#endif
