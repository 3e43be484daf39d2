/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes the options mean besides those that are named by their pids. */
#ifndef COMMAND_SELECTION_H
#define COMMAND_SELECTION_H

#include "base/error.h"
#include "command/options.h"
#include "discover/selector.h"

/*
 * Fill `selector`, which is {0}; it stays so if the options mean none. Names in it are the options'. A cgroup that does not
 * exist is an error, unless the options wait for it. Returns 0, or a negative errno with `error` filled. Free with selector_free.
 */
int selection_read(const struct options *options, struct selector *selector, struct error *error);

/* No process is selected. Returns -ESRCH with `error` filled, whose sentence ends with `hint`. */
int selection_refuse(const struct options *options, const char *hint, struct error *error);

/* Log what is waited for: "a process named puma". */
void selection_log_wait(const struct options *options, const struct log *log);

/* It has not come. Returns -ESRCH with `error` filled. */
int selection_refuse_wait(const struct options *options, struct error *error);

#endif
