/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects processes by other criteria than their pids, as the options ask. */
#ifndef COMMAND_SELECTION_H
#define COMMAND_SELECTION_H

#include "base/error.h"
#include "command/options.h"
#include "discover/selector.h"

/*
 * Fill `selector`, which is {0} and stays so without criteria. Names in it belong to the options. A
 * cgroup that does not exist is an error, unless the options wait for it. Returns 0, or a negative
 * errno with `error` filled. Free with selector_free.
 */
int selection_read(const struct options *options, struct selector *selector, struct error *error);

/* Report that no process matches; `hint` ends the sentence. Returns -ESRCH with `error` filled. */
int selection_refuse(const struct options *options, const char *hint, struct error *error);

/* Log what the tracer waits for: "a process named puma". */
void selection_log_wait(const struct options *options, const struct log *log);

/* Report that it has not come. Returns -ESRCH with `error` filled. */
int selection_refuse_wait(const struct options *options, struct error *error);

#endif
