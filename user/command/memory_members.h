/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes `tracer memory` looks at with INTERVAL: those of a tree or a control group come and go. */
#ifndef COMMAND_MEMORY_MEMBERS_H
#define COMMAND_MEMORY_MEMBERS_H

#include "base/error.h"
#include "command/options.h"
#include "model/memory_report.h"
#include "system/cgroup.h"

/*
 * Make `list` anew, if the options mean more than pids. Of a tree, what `before` has looked at stays in it, with its children, when the
 * parent has ended. Returns 0, or a negative errno with `error` filled and `list` as it was.
 */
int memory_members_list(const struct options *options, const struct memory_report *before,
			struct pid_list *list, struct error *error);

/* Remark which processes have come since `before`, and which have gone. */
void memory_members_compare(struct memory_report *report, const struct memory_report *before);

#endif
